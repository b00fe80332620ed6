import { useChat } from '@ai-sdk/react';
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
} from 'ai';
import { useEffect, useState } from 'react';
import { Composer } from './composer.jsx';
import { areDecided, decideRequest, keepDecision } from './decisions.js';
import { Icon, IconButton } from './icons.jsx';
import { isSummary, Message } from './message.jsx';
import { waitingInside } from './nested-runs.jsx';
import { useReconnect } from './reconnect.js';
import { useScroll } from './scroll.js';
import { api, loadChat, showVersion, stopAnswer } from './server.js';
import { useWaiting, Waiting } from './waiting.jsx';

/** Questions to begin with, and what to expect of them. */
const HINTS = [
  ['Plan the arrivals of tomorrow', 'Ships, berths and times'],
  ['What is the weather in Oslo?', 'Sky and temperature'],
  ['Pay the harbour fee of 40 euro', 'Asks you before it pays'],
  ['Can the Aurora come in today?', 'Asks the pilot and the lookout'],
];

/**
 * The server has the chat, so a request needs the last message only, or the decisions on its calls. A new answer needs the
 * question, which may stand before a summary.
 */
const transport = new DefaultChatTransport({
  api,
  prepareSendMessagesRequest({ id, messages, trigger, messageId }) {
    const last = messages.findLast(({ role }) => trigger === 'submit-message' || role === 'user');
    return decideRequest(id, last) ?? { body: { id, messages: [last], trigger, messageId } };
  },
});

/** One chat: the messages, the state of the answer, and the form. */
export function Chat({ loaded, title, onChange }) {
  const chat = useChat({
    id: loaded.id,
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
  const { id, messages, status, error } = chat;
  const waiting = useWaiting(chat, loaded);
  const [{ versions = {}, spent, running }, setDetails] = useState(loaded);
  const isOffline = useReconnect(chat, (latest) => {
    waiting.showAll(latest);
    setDetails(latest);
    onChange();
  });
  const isBusy = status === 'submitted' || status === 'streaming';
  // An answer begins without content.
  const shown = messages.filter(({ parts }) => parts.some(({ type }) => type !== 'step-start'));
  const last = shown.findLast((message) => !isSummary(message));
  const asks = last?.parts.some(({ state }) => state === 'approval-requested') ?? false;
  const isUnanswered = running === false && last?.role === 'user' && waiting.list.length === 0;
  const canChange = !isBusy && !isOffline && !asks;
  const { log, isAtEnd, toEnd } = useScroll();
  // The list shows the chat as soon as it has begun.
  // biome-ignore lint/correctness/useExhaustiveDependencies: loads the list when the status changes.
  useEffect(() => void onChange(), [status]);
  useEffect(() => {
    // An open question has the focus. On a phone, the keyboard would cover the page.
    if (!asks && !matchMedia('(pointer: coarse)').matches) document.getElementById('message').focus();
  }, [asks]);

  const actions = canChange
    ? {
        again: (messageId) => chat.regenerate({ messageId }),
        edit: ({ id, parts }, text) =>
          chat.sendMessage({
            parts: [...parts.filter(({ type }) => type === 'file'), { type: 'text', text }],
            messageId: id,
          }),
        show: async (version) => {
          await showVersion(id, version);
          const other = await loadChat(id);
          chat.clearError();
          chat.setMessages(other.messages);
          setDetails(other);
          onChange();
        },
      }
    : undefined;
  const send = (parts) => {
    toEnd();
    return isBusy ? waiting.send(parts) : chat.sendMessage({ parts });
  };
  const tryAgain = () => {
    if (last.role === 'assistant') return chat.regenerate();
    chat.setMessages(messages.slice(0, messages.indexOf(last)));
    return chat.sendMessage(last);
  };

  return (
    <main data-state={stateOf({ isOffline, isBusy })}>
      <header>
        <button type="button" className="icon-button menu" popoverTarget="chats" aria-label="Chats">
          <Icon name="menu" />
        </button>
        <h1>{title ?? 'Harbour desk'}</h1>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls the messages. */}
      <section ref={log} className="messages" tabIndex={0} aria-label="Conversation">
        {shown.length === 0 && <Hints send={(text) => send([{ type: 'text', text }])} />}
        {shown.map((message) => (
          <Message
            key={message.id}
            message={message}
            // A message behind an open question has denied it.
            decide={message === last ? (...decision) => decide(chat, ...decision) : undefined}
            isWriting={isBusy && message === last && message.role === 'assistant'}
            versions={versions[message.id]}
            actions={actions}
          />
        ))}
        <Waiting waiting={waiting} />
        {waiting.works.map(({ id, label }) => (
          <p key={id} className="working">
            <span className="dots" aria-hidden="true" /> In the background: {label}
          </p>
        ))}
        {isBusy && !isOffline && last?.role === 'user' && (
          <p className="working">
            <span className="dots" aria-hidden="true" /> Reading
          </p>
        )}
        {isOffline && (
          <div className="notice">
            <Icon name="alert" />
            <p>No connection. Connecting again…</p>
          </div>
        )}
        {!isOffline && !isBusy && (error || isUnanswered) && (
          <div className="notice" role="alert">
            <Icon name="alert" />
            <p>{error?.message ?? 'This question has no answer yet.'}</p>
            <button type="button" onClick={tryAgain}>
              Try again
            </button>
          </div>
        )}
      </section>
      <div className="bottom">
        {!isAtEnd && <IconButton name="down" label="To the latest message" onClick={toEnd} />}
        <Composer
          isBusy={isBusy}
          placeholder={placeholderFor({ isBusy, asks })}
          send={send}
          stop={() => stopAnswer(id)}
          spent={spent}
        />
        <p className="hidden" role="status">
          {wordsFor({ isOffline, isBusy, asks })}
        </p>
      </div>
    </main>
  );
}

/** Decides on what waits: a call of the last message, the answer, or a call inside of a call. */
function decide(chat, id, ...[approved, input]) {
  const [call, ...inside] = id.split('/');
  if (inside.length > 0 || input !== undefined) keepDecision(id, approved, input);
  if (inside.length === 0) return chat.addToolApprovalResponse({ id, approved });
  // The card is decided once everything inside of it is.
  if (areDecided(waitingInside(chat.messages.at(-1).parts, [call])))
    return chat.addToolApprovalResponse({ id: call, approved: true });
}

function stateOf({ isOffline, isBusy }) {
  if (isOffline) return 'offline';
  return isBusy ? 'answering' : 'ready';
}

function placeholderFor({ isBusy, asks }) {
  if (isBusy) return 'Add something to the answer';
  return asks ? 'Or say what to do instead' : 'Ask anything';
}

/** A screen reader says this. It would read a streaming answer again and again. */
function wordsFor({ isOffline, isBusy, asks }) {
  if (isOffline) return 'No connection';
  if (isBusy) return 'The answer is being written';
  return asks ? 'A decision is needed' : '';
}

function Hints({ send }) {
  return (
    <div className="hints">
      <h2>How can I help?</h2>
      {HINTS.map(([question, about]) => (
        <button type="button" key={question} onClick={() => send(question)}>
          <b>{question}</b> {about}
        </button>
      ))}
    </div>
  );
}
