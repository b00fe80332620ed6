import { useState } from 'react';
import { Attachment } from './files.jsx';
import { textOf } from './message.jsx';
import { postTo } from './server.js';

/**
 * The messages that were typed while the agent works, from any page, until they join the answer; and the works that go on
 * in the background.
 */
export function useWaiting({ id: chatId, messages }, loaded) {
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
    async send(parts) {
      const id = crypto.randomUUID();
      show((all) => [...all, { id, parts }]);
      await postTo('send', { id: chatId, messageId: id, message: parts }).catch(() => drop(id));
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
    <WaitingMessage key={id} parts={parts} edit={(text) => edit(id, text)} cancel={() => cancel(id)} />
  ));
}

function WaitingMessage({ parts, edit, cancel }) {
  const [draft, setDraft] = useState(undefined);
  const files = parts.filter(({ type }) => type === 'file');
  const save = async (event) => {
    event.preventDefault();
    await edit(draft);
    setDraft(undefined);
  };
  return (
    <article className="user waiting" aria-label="Waiting message">
      <div className="parts">
        {files.map((file) => (
          <Attachment key={file.url} file={file} />
        ))}
        {draft === undefined ? (
          <p className="text">{textOf(parts)}</p>
        ) : (
          <form className="inline" onSubmit={save}>
            <input aria-label="Waiting text" value={draft} onChange={(event) => setDraft(event.target.value)} />
            <button type="submit">Save</button>
          </form>
        )}
      </div>
      <footer className="shown">
        <span className="note">Waits for the agent</span>
        {files.length === 0 && (
          <button type="button" className="quiet" onClick={() => setDraft(textOf(parts))}>
            Edit
          </button>
        )}
        <button type="button" className="quiet" onClick={cancel}>
          Take back
        </button>
      </footer>
    </article>
  );
}
