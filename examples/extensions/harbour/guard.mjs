// A hook that blocks ships whose draught exceeds the setting `maxDraught`.
import { text } from 'node:stream/consumers';

const { data } = JSON.parse(await text(process.stdin));
const limit = Number(process.env.HARBOUR_APP_SETTING_MAX_DRAUGHT);
const isTooDeep = data.args.draught > limit;
console.log(JSON.stringify(isTooDeep ? { continue: false, reason: `deeper than ${limit} m` } : {}));
