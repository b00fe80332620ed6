'use client';

import { useChat } from '@ai-sdk/react';
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai';
import { useEffect, useState } from 'react';

const transport = new DefaultChatTransport({
  api: '/api/chat',
  prepareSendMessagesRequest({ id, messages, trigger, messageId }) {
    const last = messages.findLast(({ role }) => trigger === 'submit-message' || role === 'user');
    return { body: { id, messages: [last], trigger, messageId } };
  },
});

/** Loads the stored messages, and then shows the chat. */
export function Chat({ id }) {
  const [loaded, setLoaded] = useState();
  useEffect(() => {
    const load = async () => setLoaded((await (await fetch(`/api/chat/history?id=${id}`)).json()).messages);
    void load();
  }, [id]);
  return loaded && <Messages id={id} loaded={loaded} />;
}

function Messages({ id, loaded }) {
  const { messages, status, sendMessage, addToolApprovalResponse } = useChat({
    id,
    messages: loaded,
    resume: true,
    transport,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  const send = (form) => sendMessage({ text: form.get('text') });
  return (
    <main>
      {messages.map((message) => (
        <article key={message.id} className={message.role}>
          {message.parts.map((part, index) => (
            <Part key={index} part={part} decide={addToolApprovalResponse} />
          ))}
        </article>
      ))}
      <form action={send}>
        <input name="text" aria-label="Message" />
        <button type="submit">Send</button>
      </form>
      <p role="status">{status}</p>
    </main>
  );
}

function Part({ part, decide }) {
  if (part.type === 'text') return <p>{part.text}</p>;
  if (part.state === 'output-available') return <pre>{JSON.stringify(part.output)}</pre>;
  if (part.state !== 'approval-requested') return null;
  return (
    <button type="button" onClick={() => decide({ id: part.approval.id, approved: true })}>
      Approve
    </button>
  );
}
