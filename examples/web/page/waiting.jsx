import { useState } from 'react';
import { chatId, postTo } from './history.js';

/**
 * The messages that were typed while the agent works, from any page, until they join the answer; and the works that go on
 * in the background.
 */
export function useWaiting({ messages }, loaded) {
  const [sent, show] = useState(loaded.waiting ?? []);
  const [works, showWorks] = useState(loaded.background ?? []);
  const joined = new Set(messages.flatMap(({ id, parts }) => [id, ...parts.map((part) => part.id)]));
  const drop = (id) => show((all) => all.filter((one) => one.id !== id));
  return {
    list: sent.filter(({ id }) => !joined.has(id)),
    works,
    showAll({ waiting = [], background = [] }) {
      show(waiting);
      showWorks(background);
    },
    async send(text) {
      const id = crypto.randomUUID();
      const parts = [{ type: 'text', text }];
      show((all) => [...all, { id, parts }]);
      await postTo('send', { id: chatId, messageId: id, message: text }).catch(() => drop(id));
    },
    async edit(id, text) {
      const { edited } = await postTo('edit', { id: chatId, messageId: id, message: text });
      const parts = [{ type: 'text', text }];
      if (edited) show((all) => all.map((one) => (one.id === id ? { id, parts } : one)));
    },
    async cancel(id) {
      const { cancelled } = await postTo('cancel', { id: chatId, messageId: id });
      if (cancelled) drop(id);
    },
  };
}

/** Shows the messages that wait. Each can be edited and taken back. */
export function Waiting({ waiting: { list, edit, cancel } }) {
  return list.map(({ id, parts }) => (
    <WaitingMessage key={id} text={textOf(parts)} edit={(text) => edit(id, text)} cancel={() => cancel(id)} />
  ));
}

function WaitingMessage({ text, edit, cancel }) {
  const [draft, setDraft] = useState(undefined);
  const save = async (event) => {
    event.preventDefault();
    await edit(draft);
    setDraft(undefined);
  };
  return (
    <article className="user waiting" aria-label="Waiting message">
      {draft === undefined ? (
        <p className="text">{text}</p>
      ) : (
        <form onSubmit={save}>
          <input aria-label="Waiting text" value={draft} onChange={(event) => setDraft(event.target.value)} />
          <button type="submit">Save</button>
        </form>
      )}
      <p className="state">
        Waits for the agent{' '}
        <button type="button" onClick={() => setDraft(text)}>
          Edit
        </button>{' '}
        <button type="button" onClick={cancel}>
          Take back
        </button>
      </p>
    </article>
  );
}

export function textOf(parts) {
  return parts.map(({ text = '' }) => text).join('');
}
