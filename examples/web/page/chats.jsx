import { useState } from 'react';
import { Icon, IconButton } from './icons.jsx';
import { deleteChat } from './server.js';

/** The list of chats, the latest first. On a narrow screen it is a panel that the menu button opens. */
export function Chats({ chats, chatId, search, onSearch, open, reload }) {
  const [asked, ask] = useState(undefined);
  const remove = async (id) => {
    await deleteChat(id);
    ask(undefined);
    await reload();
    if (id === chatId) open(crypto.randomUUID());
  };
  return (
    <nav id="chats" className="chats" popover="auto" aria-label="Chats">
      <button type="button" className="new" onClick={() => open(crypto.randomUUID())}>
        <Icon name="plus" /> New chat
      </button>
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
      {chats.length === 0 && <p className="note">{search ? 'No chat has this title.' : 'Your chats will be here.'}</p>}
      <ul>
        {chats.map(({ id, title }) => (
          <li key={id} className={id === chatId ? 'current' : ''}>
            {asked === id ? (
              <Question title={title} yes={() => remove(id)} no={() => ask(undefined)} />
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
  return (
    <fieldset className="question" aria-label={`Delete ${title}?`}>
      <span>Delete “{title}”?</span>
      <button type="button" className="danger" onClick={yes}>
        Delete
      </button>
      <button type="button" onClick={no}>
        Keep
      </button>
    </fieldset>
  );
}

export function hidePanel() {
  const panel = document.getElementById('chats');
  if (panel?.matches(':popover-open')) panel.hidePopover();
}
