import { NestedRuns, waitingInside } from './nested-runs.jsx';
import { ToolCard } from './tool-card.jsx';
import { textOf } from './waiting.jsx';

/** One message with its parts in order, or the place of a summary, which is not a message. */
export function Message({ message: { role, parts, metadata }, decide }) {
  const [first] = parts;
  if (first?.type === 'data-summary') return <Summary text={first.data.text} />;
  return (
    <article className={role} aria-label={role === 'user' ? 'You' : 'Assistant'}>
      {parts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts are only appended, and have no id.
        <Part key={index} part={part} parts={parts} decide={decide} />
      ))}
      {metadata?.stopped && <p className="state">This answer was stopped.</p>}
    </article>
  );
}

function Part({ part, parts, decide }) {
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
  if (part.type.startsWith('tool-')) return <ToolCall part={part} parts={parts} decide={decide} />;
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

function ToolCall({ part, parts, decide }) {
  const { toolCallId, input, output, errorText, approval } = part;
  // The person went on without a decision, so the server has denied the call.
  const state = part.state === 'approval-requested' && decide === undefined ? 'output-denied' : part.state;
  const edit = part.callProviderMetadata?.keelson;
  const asked = state === 'approval-requested' ? decide : undefined;
  const isInside = waitingInside(parts, [toolCallId]).length > 0;
  return (
    <ToolCard
      name={part.type.slice('tool-'.length)}
      state={state}
      word={part.preliminary ? STATES['input-available'] : STATES[state]}
      data={{ input, output, errorText }}
      decide={asked && !isInside ? (...decision) => asked(approval.id, ...decision) : undefined}
    >
      {edit && <p className="state">Changed by a person. The model wrote {JSON.stringify(edit.modelInput)}.</p>}
      <NestedRuns parts={parts} path={[toolCallId]} decide={asked} />
    </ToolCard>
  );
}
