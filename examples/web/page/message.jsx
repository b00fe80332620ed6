import { useState } from 'react';
import { textOf } from './waiting.jsx';

/** One message with its parts in order, or the place of a summary, which is not a message. */
export function Message({ message: { role, parts, metadata }, decide }) {
  const [first] = parts;
  if (first?.type === 'data-summary') return <Summary text={first.data.text} />;
  return (
    <article className={role} aria-label={role === 'user' ? 'You' : 'Assistant'}>
      {parts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts are only appended, and have no id.
        <Part key={index} part={part} decide={decide} />
      ))}
      {metadata?.stopped && <p className="state">This answer was stopped.</p>}
    </article>
  );
}

function Part({ part, decide }) {
  if (part.type === 'text') return <p className="text">{part.text}</p>;
  if (part.type === 'reasoning') {
    return (
      <details className="reasoning">
        <summary>Reasoning</summary>
        <p>{part.text}</p>
      </details>
    );
  }
  if (part.type === 'file' && part.mediaType.startsWith('image/')) {
    return <img className="picture" src={part.url} alt={part.filename ?? 'Attached picture'} />;
  }
  if (part.type === 'steering-message') return <p className="joined">{textOf(part.parts)}</p>;
  if (part.type.startsWith('tool-')) return <ToolCall part={part} decide={decide} />;
  return null;
}

/** From here on, the model reads the summary instead of the messages above. */
function Summary({ text }) {
  return (
    <aside className="summary" aria-label="Summary">
      <details>
        <summary>The model reads a summary of the earlier messages</summary>
        <p>{text}</p>
      </details>
    </aside>
  );
}

const STATES = {
  'input-streaming': 'writing the arguments',
  'input-available': 'running',
  'approval-requested': 'waits for you',
  'approval-responded': 'decided',
  'output-available': 'done',
  'output-error': 'failed',
  'output-denied': 'denied',
};

function ToolCall({ part, decide }) {
  const name = part.type.slice('tool-'.length);
  // The person went on without a decision, so the server has denied the call.
  const state = part.state === 'approval-requested' && decide === undefined ? 'output-denied' : part.state;
  const edit = part.callProviderMetadata?.keelson;
  return (
    <section className={`tool ${state}`} aria-label={`Tool ${name}`}>
      <h2>
        {name} <span className="state">{part.preliminary ? STATES['input-available'] : STATES[state]}</span>
      </h2>
      <pre>{shown(part.input ?? {})}</pre>
      {edit && <p className="state">Changed by a person. The model wrote {JSON.stringify(edit.modelInput)}.</p>}
      {part.output !== undefined && <pre className="output">{shown(part.output)}</pre>}
      {part.errorText && <p className="error">{part.errorText}</p>}
      {state === 'approval-requested' && <Decision part={part} name={name} decide={decide} />}
    </section>
  );
}

function Decision({ part: { approval, input }, name, decide }) {
  const [draft, setDraft] = useState(undefined);
  if (draft !== undefined) {
    const approve = (changed) => decide(approval.id, true, changed);
    return <Changes draft={draft} change={setDraft} approve={approve} cancel={() => setDraft(undefined)} />;
  }
  return (
    <fieldset className="decision" aria-label={`Decide on ${name}`}>
      <button type="button" className="primary" onClick={() => decide(approval.id, true)}>
        Approve
      </button>
      {/* A suspended answer has no arguments. */}
      {name !== 'answer' && (
        <button type="button" onClick={() => setDraft(shown(input))}>
          Edit
        </button>
      )}
      <button type="button" onClick={() => decide(approval.id, false)}>
        Deny
      </button>
    </fieldset>
  );
}

/** The arguments as JSON, to change before the approval. */
function Changes({ draft, change, approve, cancel }) {
  const changed = parsed(draft);
  return (
    <fieldset className="decision" aria-label="Change the arguments">
      <textarea
        aria-label="Arguments"
        rows={draft.split('\n').length}
        value={draft}
        onChange={(event) => change(event.target.value)}
      />
      <button type="button" className="primary" disabled={changed === undefined} onClick={() => approve(changed)}>
        Approve with changes
      </button>
      <button type="button" onClick={cancel}>
        Cancel
      </button>
    </fieldset>
  );
}

/** Returns undefined for a text that is not JSON. */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function shown(output) {
  return typeof output === 'string' ? output : JSON.stringify(output, null, 1);
}
