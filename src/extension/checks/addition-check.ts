const POSITIONS = ['system_prefix', 'system_suffix', 'user_prefix', 'user_suffix'];
const ADDITION_KEYS = ['position', 'content', 'condition'];
/** The members of each condition that is data; the second is the one that it must have. */
const CONDITIONS: Readonly<Record<string, readonly string[]>> = {
  tag_present: ['type', 'tag'],
  state_value: ['type', 'key', 'equals'],
  context_match: ['type', 'path', 'equals'],
};

/** What is wrong with an extension's prompt additions. */
export function additionProblems(additions: unknown): string[] {
  if (additions === undefined) return [];
  if (!Array.isArray(additions)) return ['`promptAdditions` is no array'];
  return additions.flatMap((addition: unknown, index) => problemsOf(`promptAdditions[${index}]`, addition));
}

function problemsOf(at: string, addition: unknown): string[] {
  if (typeof addition !== 'object' || addition === null) return [`\`${at}\` is no object`];
  const { position, content, condition, ...others } = addition as Record<string, unknown>;
  const problems = Object.keys(others).map((key) => `\`${at}.${key}\` is none of ${ADDITION_KEYS.join(', ')}`);
  if (typeof position !== 'string' || !POSITIONS.includes(position)) {
    problems.push(
      `\`${at}.position\` is ${typeof position === 'string' ? position : typeof position}; it is one of ${POSITIONS.join(', ')}`,
    );
  }
  if (typeof content !== 'string') problems.push(`\`${at}.content\` is ${typeof content}, not text`);
  return [...problems, ...conditionProblems(`${at}.condition`, condition)];
}

function conditionProblems(at: string, condition: unknown): string[] {
  if (condition === undefined || typeof condition === 'function') return [];
  const { type } = (condition ?? {}) as { type?: unknown };
  const members = typeof type === 'string' && Object.hasOwn(CONDITIONS, type) ? CONDITIONS[type] : undefined;
  if (members === undefined) return [`\`${at}\` is no function, nor of type ${Object.keys(CONDITIONS).join(', ')}`];
  const given = condition as Record<string, unknown>;
  const subject = members[1] as string;
  const unknown = Object.keys(given).filter((key) => !members.includes(key));
  const problems = unknown.map((key) => `\`${at}.${key}\` is no member of a condition of type ${type}`);
  const isText = typeof given[subject] === 'string' && given[subject] !== '';
  return isText ? problems : [...problems, `\`${at}.${subject}\` is no text`];
}
