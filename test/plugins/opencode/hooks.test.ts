import { describe, expect, test } from 'vitest';
import { problemOfHooks } from '../../../src/plugins/opencode/hooks.js';

describe('the hooks of a plugin for opencode that are an object of a class', () => {
  test('may have members of their own beside hooks', () => {
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
  ])('are refused with the function %s, also as a field and inherited: %s was meant', (name, hook) => {
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
