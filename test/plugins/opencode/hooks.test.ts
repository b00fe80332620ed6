import { describe, expect, test } from 'vitest';
import { problemOfHooks } from '../../../src/plugins/opencode/hooks.js';

describe('opencode hooks in a class instance', () => {
  test('may have other members next to hooks', () => {
    class Guard {
      readonly events: string[] = [];
      readonly _tool_execute_before = () => {};
      readonly disposed = false;
      'tool.execute.before'() {
        this._dispos();
      }
      _dispos() {}
      helper() {}
    }

    expect(problemOfHooks(new Guard())).toBeUndefined();
  });

  test.each([
    ['tool.execut.before', 'tool.execute.before'],
    ['tool.execute.befor', 'tool.execute.before'],
    ['Tool.Execute.Before', 'tool.execute.before'],
    ['tool.execute.aftr', 'tool.execute.after'],
    ['chat.mesage', 'chat.message'],
    ['evnt', 'event'],
    ['dispos', 'dispose'],
    ['tool.before', 'tool.execute.before'],
    ['beforeToolCall', 'tool.execute.before'],
    ['before_tool_execute', 'tool.execute.before'],
    ['wrapToolCall', 'tool.execute.before'],
    ['tool.call.after', 'tool.execute.after'],
    ['onToolEnd', 'tool.execute.after'],
  ])('are refused with the misspelt method or field %s, with a hint to %s', (name, hook) => {
    class Method {
      event() {}
    }
    Object.defineProperty(Method.prototype, name, { value: () => {} });
    class Inherits extends Method {}
    class Field {
      constructor() {
        Object.assign(this, { event() {}, [name]: () => {} });
      }
    }

    for (const hooks of [new Method(), new Inherits(), new Field()]) {
      expect(problemOfHooks(hooks)).toContain(`unknown member \`${name}\`; did you mean \`${hook}\`?`);
    }
  });
});
