import { describe, expect, test } from 'vitest';
import { validatePlugin } from '../../src/plugins/check-plugin.js';

const validate = (hooks: object) => () => validatePlugin({ name: 'a', hooks });

describe('plugin hooks in a class instance', () => {
  test('may have other members next to hooks', () => {
    class Guard {
      readonly onErrors: string[] = [];
      readonly beforeToolExecutes = 0;
      readonly _beforeToolExecut = () => this.helper();
      beforeToolExecute(name: string, input: Record<string, unknown>) {
        return this._onInt(name) ? { name, input } : null;
      }
      _onInt(name: string) {
        return name !== '';
      }
      helper() {}
    }

    expect(validate(new Guard())).not.toThrow();
  });

  test.each([
    ['beforeToolExcute', 'beforeToolExecute'],
    ['before_tool_execute', 'beforeToolExecute'],
    ['beforeToolExecutes_', 'beforeToolExecute'],
    ['afterToolExecut', 'afterToolExecute'],
    ['onInitt', 'onInit'],
    ['onShutDown', 'onShutdown'],
    ['beforeTool', 'beforeToolExecute'],
    ['beforeToolCall', 'beforeToolExecute'],
    ['wrapToolCall', 'beforeToolExecute'],
    ['onToolStart', 'beforeToolExecute'],
    ['afterToolCall', 'afterToolExecute'],
    ['onToolEnd', 'afterToolExecute'],
    ['beforeModel', 'beforeMessage'],
    ['onAgentStart', 'beforeMessage'],
    ['afterRun', 'afterResponse'],
    ['onEnd', 'afterResponse'],
  ])('are refused with the misspelt method or field %s, with a hint to %s', (name, hook) => {
    class Method {}
    Object.defineProperty(Method.prototype, name, { value: () => {} });
    class Inherits extends Method {}
    class Field {
      constructor() {
        Object.assign(this, { [name]: () => {} });
      }
    }

    for (const hooks of [new Method(), new Inherits(), new Field()]) {
      const message = `unknown member \`hooks.${name}\`; did you mean \`${hook}\`?`;
      expect(validate(hooks)).toThrow(
        expect.objectContaining({ code: 'ERR_PLUGIN_INVALID', message: expect.stringContaining(message) }),
      );
    }
  });
});

test('every unknown member of an object literal is refused', () => {
  expect(validate({ _beforeToolExecute() {} })).toThrow('did you mean `beforeToolExecute`?');
  expect(validate({ helper() {} })).toThrow('unknown member `hooks.helper`; known are onInit');
});
