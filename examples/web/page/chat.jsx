import { useChat } from '@ai-sdk/react';
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
} from 'ai';
import { useEffect, useRef } from 'react';
import { Composer } from './composer.jsx';
import { areDecided, decideRequest, keepDecision } from './decisions.js';
import { chatId, headers, stopAnswer } from './history.js';
import { Message } from './message.jsx';
import { waitingInside } from './nested-runs.jsx';
import { useReconnect } from './reconnect.js';
import { useWaiting, Waiting } from './waiting.jsx';

const HINTS = ['What is the weather in Oslo?', 'Pay the harbour fee of 40 euro', 'Tell me a long story', 'Fail once'];

/** The server has the chat, so a request needs the last message only, or the decisions on its calls. */
const transport = new DefaultChatTransport({
  api: '/api/chat',
  headers,
  prepareSendMessagesRequest: ({ id, messages, trigger, messageId }) =>
    decideRequest(id, messages.at(-1)) ?? { body: { id, messages: messages.slice(-1), trigger, messageId } },
});

/** The whole page: the messages, the state of the answer, and the form. */
export function Chat({ loaded }) {
  const chat = useChat({
    id: chatId,
    messages: loaded.messages,
    resume: true,
    transport,
    sendAutomaticallyWhen: (all) =>
      lastAssistantMessageIsCompleteWithToolCalls(all) || lastAssistantMessageIsCompleteWithApprovalResponses(all),
    onToolCall({ toolCall: { toolName: tool, toolCallId } }) {
      if (tool !== 'screen') return;
      // Not awaited: the stream waits for `onToolCall`.
      void chat.addToolOutput({ tool, toolCallId, output: { width: innerWidth, height: innerHeight } });
    },
  });
  const { messages, status, error } = chat;
  const waiting = useWaiting(chat, loaded);
  const isOffline = useReconnect(chat, waiting);
  const isBusy = status === 'submitted' || status === 'streaming';
  const log = useRef(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls when the messages change.
  useEffect(() => {
    log.current.scrollTop = log.current.scrollHeight;
  }, [messages, waiting.list.length]);

  const decide = (id, approved, input) => {
    const [call, ...inside] = id.split('/');
    if (inside.length === 0) {
      if (input !== undefined) keepDecision(id, approved, input);
      return chat.addToolApprovalResponse({ id, approved });
    }
    keepDecision(id, approved, input);
    // The card is decided once everything inside of it is.
    if (areDecided(waitingInside(messages.at(-1).parts, [call])))
      return chat.addToolApprovalResponse({ id: call, approved: true });
  };
  const answerAgain = () => {
    const last = messages.at(-1);
    if (last.role === 'assistant') return chat.regenerate();
    chat.setMessages(messages.slice(0, -1));
    return chat.sendMessage(last);
  };

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
          // A message behind an open question has denied it.
          <Message key={message.id} message={message} decide={message === messages.at(-1) ? decide : undefined} />
        ))}
        <Waiting waiting={waiting} />
        {waiting.works.map(({ id, label }) => (
          <p key={id} className="working" role="status">
            In the background: {label}
          </p>
        ))}
        {(isBusy || isOffline) && (
          <p className="working" role="status">
            {isOffline ? 'No connection. Connecting again' : 'Answering'}
            <span aria-hidden="true" className="dots" />
          </p>
        )}
        {error && !isOffline && (
          <p className="error" role="alert">
            {error.message}
          </p>
        )}
      </section>
      <Composer
        isBusy={isBusy}
        send={chat.sendMessage}
        add={waiting.send}
        stop={() => stopAnswer(chatId)}
        answerAgain={messages.length > 0 && !isBusy && !isOffline && !waits(messages) ? answerAgain : undefined}
      />
    </main>
  );
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
