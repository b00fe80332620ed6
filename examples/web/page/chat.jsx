import { useChat } from '@ai-sdk/react';
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai';
import { useEffect, useRef, useState } from 'react';
import { Composer } from './composer.jsx';
import { chatId, loadHistory, stopAnswer } from './history.js';
import { Message } from './message.jsx';

const POLL_MS = 400;
const HINTS = ['What is the weather in Oslo?', 'Pay the harbour fee of 40 euro', 'Tell me a long story', 'Fail once'];

/** The whole page: the messages, the state of the answer, and the form. */
export function Chat({ loaded, isRunning }) {
  const chat = useChat({
    id: chatId,
    messages: loaded,
    transport: new DefaultChatTransport({ api: '/api/chat' }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  const { messages, status, error } = chat;
  const isElsewhere = useOtherTab(chat, isRunning);
  const isBusy = status === 'submitted' || status === 'streaming' || isElsewhere;
  const log = useRef(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls when the messages change.
  useEffect(() => {
    log.current.scrollTop = log.current.scrollHeight;
  }, [messages]);

  const stop = async () => {
    if (isElsewhere) await stopAnswer(chatId);
    else await chat.stop();
  };
  const decide = (id, approved) => chat.addToolApprovalResponse({ id, approved });

  return (
    <main>
      <header>
        <h1>Harbour desk</h1>
        <a href={`#${crypto.randomUUID()}`} onClick={() => setTimeout(() => location.reload())}>
          New chat
        </a>
      </header>
      <section ref={log} className="messages" role="log" aria-live="polite" aria-label="Conversation">
        {messages.length === 0 && <Hints send={(text) => chat.sendMessage({ text })} />}
        {messages.map((message) => (
          <Message key={message.id} message={message} decide={decide} />
        ))}
        {isBusy && (
          <p className="working" role="status">
            {isElsewhere ? 'Answering in another tab' : 'Answering'}
            <span aria-hidden="true" className="dots" />
          </p>
        )}
        {error && (
          <p className="error" role="alert">
            {error.message}{' '}
            <button type="button" onClick={() => chat.regenerate()}>
              Try again
            </button>
          </p>
        )}
      </section>
      <Composer
        isBusy={isBusy}
        send={chat.sendMessage}
        stop={stop}
        regenerate={
          messages.at(-1)?.role === 'assistant' && !isBusy && !waits(messages) ? () => chat.regenerate() : undefined
        }
      />
    </main>
  );
}

/** Shows the answer of another tab when it is complete. Returns true while the other tab is answering. */
function useOtherTab({ status, setMessages }, isRunning) {
  const [isElsewhere, setElsewhere] = useState(isRunning);
  useEffect(() => {
    if (status !== 'ready' && status !== 'error') return;
    const refresh = async () => {
      if (status !== 'ready') return;
      const { messages, running } = await loadHistory(chatId);
      setElsewhere(running);
      if (messages.length > 0) setMessages((shown) => (shown.length > messages.length ? shown : messages));
    };
    const onFocus = () => void refresh();
    addEventListener('focus', onFocus);
    document.addEventListener('visibilitychange', onFocus);
    const timer = isElsewhere ? setInterval(refresh, POLL_MS) : undefined;
    return () => {
      removeEventListener('focus', onFocus);
      document.removeEventListener('visibilitychange', onFocus);
      clearInterval(timer);
    };
  }, [status, setMessages, isElsewhere]);
  return isElsewhere;
}

/** True if a tool call waits for a decision. */
function waits(messages) {
  return messages.at(-1).parts.some(({ state }) => state === 'approval-requested');
}

function Hints({ send }) {
  return (
    <div className="hints">
      <p>Ask something, or attach a picture.</p>
      {HINTS.map((hint) => (
        <button type="button" key={hint} onClick={() => send(hint)}>
          {hint}
        </button>
      ))}
    </div>
  );
}
