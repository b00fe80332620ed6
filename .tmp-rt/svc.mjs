Promise.withResolvers ??= function () { let resolve, reject; const promise = new this((a, b) => { resolve = a; reject = b; }); return { promise, resolve, reject }; };
const restate = await import('@restatedev/restate-sdk');
const { RestatePromise } = restate;
const mode = process.env.MODE;
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
function driver(ctx) {
  let queue = []; let open = []; let running = false;
  const drain = async () => {
    running = true;
    while (queue.length + open.length > 0) {
      for (const entry of queue.splice(0)) {
        entry.promise = ctx.run(entry.name, entry.fn).map((value, failure) => ({ entry, value, failure }));
        open.push(entry);
      }
      const { entry, value, failure } = await RestatePromise.race(open.map((e) => e.promise));
      open = open.filter((e) => e !== entry);
      failure ? entry.reject(failure) : entry.resolve(value);
      await null;
    }
    running = false;
  };
  return (name, fn) => new Promise((resolve, reject) => {
    queue.push({ name, fn, resolve, reject });
    if (!running) { running = true; queueMicrotask(drain); }
  });
}
const svc = restate.service({ name: 'svc', handlers: { go: async (ctx, n) => {
  const step = driver(ctx);
  const order = [];
  const work = (name, ms) => step(name, async () => { console.log('exec', name); await sleep(ms); if (name === process.env.DIE) process.exit(9); return name; }).then((v) => { order.push(v); return v; });
  await Promise.all([work('a', 60), work('b', 20), work('c', 40).then(() => work('d', 10))]);
  await Promise.all([work('e', 10), work('f', 5)]);
  console.log('order', order.join());
  return order.join();
} } });
restate.serve({ services: [svc], port: Number(process.env.PORT) });
