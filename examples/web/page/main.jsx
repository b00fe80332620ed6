import { useCallback, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { Chat } from './chat.jsx';
import { Chats, hidePanel } from './chats.jsx';
import { loadChat, loadChats } from './server.js';
import './style.css';
import './chats.css';
import './message.css';
import './markdown.css';
import './tool-card.css';
import './composer.css';

/** The id of the chat is in the address, so that a reload and a second tab show the same chat. */
const readChatId = () => location.hash.slice(1);

function App() {
  const [chatId, setChatId] = useState(readChatId);
  const [loaded, setLoaded] = useState(undefined);
  const [chats, setChats] = useState([]);
  const [search, setSearch] = useState('');

  useEffect(() => {
    const onHashChange = () => setChatId(readChatId());
    addEventListener('hashchange', onHashChange);
    return () => removeEventListener('hashchange', onHashChange);
  }, []);
  useEffect(() => {
    let isLeft = false;
    const show = (chat) => !isLeft && setLoaded({ ...chat, id: chatId });
    loadChat(chatId).then(show, () => show({ messages: [] }));
    return () => {
      isLeft = true;
    };
  }, [chatId]);
  const reload = useCallback(() => loadChats(search).then(setChats, () => {}), [search]);
  useEffect(() => void reload(), [reload]);

  const title = chats.find(({ id }) => id === chatId)?.title;
  useEffect(() => {
    document.title = title ? `${title} · Harbour desk` : 'Harbour desk';
  }, [title]);
  const open = (id) => {
    location.hash = id;
    hidePanel();
  };
  return (
    <>
      <Chats chats={chats} chatId={chatId} search={search} onSearch={setSearch} open={open} reload={reload} />
      {loaded?.id === chatId && <Chat key={chatId} loaded={loaded} title={title} onChange={reload} />}
    </>
  );
}

if (readChatId() === '') history.replaceState(null, '', `#${crypto.randomUUID()}`);
createRoot(document.getElementById('root')).render(<App />);
