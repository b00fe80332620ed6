/** One message with its parts in order. */
export function Message({ message: { role, parts }, decide }) {
  return (
    <article className={role} aria-label={role === 'user' ? 'You' : 'Assistant'}>
      {parts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts are only appended, and have no id.
        <Part key={index} part={part} decide={decide} />
      ))}
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
  if (part.type === 'data-summary') {
    return (
      <details className="reasoning">
        <summary>Summary of the messages above</summary>
        <p>{part.data.text}</p>
      </details>
    );
  }
  if (part.type === 'file' && part.mediaType.startsWith('image/')) {
    return <img className="picture" src={part.url} alt={part.filename ?? 'Attached picture'} />;
  }
  if (part.type.startsWith('tool-')) return <ToolCall part={part} decide={decide} />;
  return null;
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
  const asks = part.state === 'approval-requested';
  return (
    <section className={`tool ${part.state}`} aria-label={`Tool ${name}`}>
      <h2>
        {name} <span className="state">{STATES[part.state]}</span>
      </h2>
      <pre>{JSON.stringify(part.input ?? {}, null, 1)}</pre>
      {part.output !== undefined && <pre className="output">{shown(part.output)}</pre>}
      {part.errorText && <p className="error">{part.errorText}</p>}
      {asks && (
        <fieldset className="decision" aria-label={`Decide on ${name}`}>
          <button type="button" className="primary" onClick={() => decide(part.approval.id, true)}>
            Approve
          </button>
          <button type="button" onClick={() => decide(part.approval.id, false)}>
            Deny
          </button>
        </fieldset>
      )}
    </section>
  );
}

function shown(output) {
  return typeof output === 'string' ? output : JSON.stringify(output, null, 1);
}
