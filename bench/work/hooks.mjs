/**
 * The hooks of one lifecycle: no-ops at all six points.
 * @typedef {Required<Pick<import('keelson').AgentLifecycle, 'beforeAgent' | 'beforeModel' | 'wrapModelCall' | 'afterModel' | 'wrapToolCall' | 'afterAgent'>>} AllSix
 * @typedef {{ [Key in keyof AllSix]: NonNullable<AllSix[Key]> }} Hooks
 */

/**
 * @param {import('./script.mjs').Work} work
 * @param {import('./script.mjs').Counts} counts
 * @returns {Hooks[]}
 */
export function noopHooks(work, counts) {
  const make = work.style === 'sync' ? syncHooks : asyncHooks;
  return Array.from({ length: work.hooks }, () => make(counts, work.burnMs));
}

/**
 * @param {import('./script.mjs').Counts} counts
 * @param {number} burnMs
 * @returns {Hooks}
 */
function syncHooks(counts, burnMs) {
  const seen = () => {
    counts.hooks++;
  };
  const beforeAgent = () => {
    counts.hooks++;
    burn(burnMs);
  };
  return {
    beforeAgent: burnMs > 0 ? beforeAgent : seen,
    beforeModel: seen,
    wrapModelCall(request, next) {
      counts.hooks++;
      return next(request);
    },
    afterModel: seen,
    wrapToolCall(call, next) {
      counts.hooks++;
      return next(call);
    },
    afterAgent: seen,
  };
}

/**
 * @param {import('./script.mjs').Counts} counts
 * @returns {Hooks}
 */
function asyncHooks(counts) {
  const seen = async () => {
    counts.hooks++;
  };
  return {
    beforeAgent: seen,
    beforeModel: seen,
    async wrapModelCall(request, next) {
      counts.hooks++;
      return next(request);
    },
    afterModel: seen,
    async wrapToolCall(call, next) {
      counts.hooks++;
      return next(call);
    },
    afterAgent: seen,
  };
}

/** @param {number} ms */
function burn(ms) {
  const end = performance.now() + ms;
  while (performance.now() < end);
}
