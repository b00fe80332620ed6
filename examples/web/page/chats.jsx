import { useEffect, useRef, useState } from 'react';
import { Icon, IconButton } from './icons.jsx';
import { deleteChat } from './server.js';

/** The list of chats, the latest first. On a narrow screen it is a panel that the menu button opens. */
export function Chats({ chats, chatId, search, onSearch, open, reload }) {
  const [asked, ask] = useState(undefined);
  const keep = (id) => {
    ask(undefined);
    requestAnimationFrame(() => document.querySelector(`.chats a[href="#${CSS.escape(id)}"]`)?.focus());
  };
  const remove = async (id) => {
    await deleteChat(id);
    ask(undefined);
    await reload();
    document.querySelector('.chats .new').focus();
    if (id === chatId) open(crypto.randomUUID());
  };
  return (
    <nav id="chats" className="chats" popover="auto" aria-label="Chats">
      <div className="top">
        <button type="button" className="new" onClick={() => open(crypto.randomUUID())}>
          <Icon name="plus" /> New chat
        </button>
        <IconButton name="close" label="Close the list" onClick={hidePanel} />
      </div>
      <label className="search">
        <Icon name="search" />
        <input
          type="search"
          aria-label="Search chats by title"
          placeholder="Search"
          value={search}
          onChange={(event) => onSearch(event.target.value)}
        />
      </label>
      {chats.length === 0 && (
        <p className="note">{search ? 'No chat has this title.' : 'Your chats will appear here.'}</p>
      )}
      <ul>
        {chats.map(({ id, title }) => (
          <li key={id} className={id === chatId ? 'current' : ''}>
            {asked === id ? (
              <Question title={title} yes={() => remove(id)} no={() => keep(id)} />
            ) : (
              <>
                <a href={`#${id}`} aria-current={id === chatId ? 'page' : undefined} onClick={hidePanel}>
                  {title}
                </a>
                <IconButton name="bin" label={`Delete ${title}`} onClick={() => ask(id)} />
              </>
            )}
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Question({ title, yes, no }) {
  const cancel = useRef(null);
  useEffect(() => cancel.current.focus(), []);
  const onKeyDown = (event) => {
    if (event.key !== 'Escape') return;
    // Escape would also close the panel.
    event.preventDefault();
    no();
  };
  return (
    <fieldset className="question" aria-label={`Delete ${title}`} onKeyDown={onKeyDown}>
      <b>{title}</b>
      <span>Delete this chat? It cannot be undone.</span>
      <button type="button" className="danger" onClick={yes}>
        Delete
      </button>
      <button ref={cancel} type="button" onClick={no}>
        Cancel
      </button>
    </fieldset>
  );
}

export function hidePanel() {
  const panel = document.getElementById('chats');
  if (panel?.matches(':popover-open')) panel.hidePopover();
}
