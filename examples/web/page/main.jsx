import { createRoot } from 'react-dom/client';
import { Chat } from './chat.jsx';
import { chatId, loadHistory } from './history.js';
import './style.css';

const root = createRoot(document.getElementById('root'));
const loaded = await loadHistory(chatId).catch(() => ({ messages: [] }));
root.render(<Chat loaded={loaded} />);
