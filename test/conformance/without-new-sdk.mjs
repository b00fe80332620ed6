// Makes `@modelcontextprotocol/client` look as if it were not installed: `node --import ./without-new-sdk.mjs`.
import { register } from 'node:module';

const hook = `export const resolve = (specifier, context, next) => {
  if (specifier === '@modelcontextprotocol/client') throw Object.assign(new Error('gone'), { code: 'ERR_MODULE_NOT_FOUND' });
  return next(specifier, context);
};`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);
