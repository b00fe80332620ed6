import { useState } from 'react';
import { Attachment } from './files.jsx';
import { Icon, IconButton } from './icons.jsx';
import { Copy, Prose } from './markdown.jsx';
import { hasRuns, NestedRuns, waitingInside } from './nested-runs.jsx';
import { ToolCard } from './tool-card.jsx';

/**
 * One message with its parts in order, or the place of a summary, which is not a message. `actions` are undefined while the
 * message cannot be changed.
 */
export function Message({ message, decide, isWriting, versions, actions }) {
  const { role, parts, metadata } = message;
  const [isEdited, setEdited] = useState(false);
  if (isSummary(message)) return <Summary text={parts[0].data.text} />;
  const text = textOf(parts);
  if (isEdited && actions) {
    const save = (changed) => {
      setEdited(false);
      void actions.edit(message, changed);
    };
    return <Editor text={text} save={save} cancel={() => setEdited(false)} />;
  }
  const canAnswer = role === 'assistant' && actions;
  return (
    <article className={role} aria-label={role === 'user' ? 'You' : 'Assistant'}>
      <div className="parts">
        {parts.map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts are only appended, and have no id.
          <Part key={index} part={part} message={message} decide={decide} isWriting={isWriting} />
        ))}
        <Sources parts={parts} />
        {metadata?.stopped && <p className="note">This answer was stopped.</p>}
      </div>
      {!isWriting && (
        <footer>
          {text !== '' && <Copy text={text} label="Copy message" />}
          {role === 'user' && actions && (
            <IconButton name="edit" label="Edit message" onClick={() => setEdited(true)} />
          )}
          {canAnswer && <IconButton name="again" label="Answer again" onClick={() => actions.again(message.id)} />}
          {versions && <Versions versions={versions} show={actions?.show} />}
        </footer>
      )}
    </article>
  );
}

export function isSummary({ parts }) {
  return parts[0]?.type === 'data-summary';
}

/** Goes to an earlier or a later version of a message, with all that followed it. */
function Versions({ versions: { all, at }, show }) {
  const step = (by) => ({ disabled: !show || all[at + by] === undefined, onClick: () => show(all[at + by]) });
  const label = `Version ${at + 1} of ${all.length}`;
  return (
    <fieldset className="versions" aria-label={label} title={label}>
      <IconButton name="left" label="Earlier version" {...step(-1)} />
      <span>{`${at + 1}/${all.length}`}</span>
      <IconButton name="right" label="Later version" {...step(1)} />
    </fieldset>
  );
}

function Editor({ text, save, cancel }) {
  const submit = (event) => {
    event.preventDefault();
    save(new FormData(event.currentTarget).get('text'));
  };
  return (
    <form className="editor" onSubmit={submit} onKeyDown={({ key }) => key === 'Escape' && cancel()}>
      {/* biome-ignore lint/a11y/noAutofocus: the person has asked for this field. */}
      <textarea name="text" aria-label="Edited message" defaultValue={text} autoFocus required onFocus={toTheEnd} />
      <div className="buttons">
        <button type="button" onClick={cancel}>
          Cancel
        </button>
        <button type="submit" className="primary">
          Ask again
        </button>
      </div>
    </form>
  );
}

const toTheEnd = ({ target }) => target.setSelectionRange(target.value.length, target.value.length);

function Part({ part, message: { role, parts }, decide, isWriting }) {
  const { type, text, state } = part;
  if (type === 'text') {
    return role === 'user' ? <p className="text">{text}</p> : <Prose text={text} isWritten={!isWriting} />;
  }
  if (type === 'reasoning') {
    return (
      <details className="reasoning">
        <summary>{isWriting && state !== 'done' ? 'Thinking…' : 'Thoughts'}</summary>
        <Prose text={text} />
      </details>
    );
  }
  if (type === 'file') return <Attachment file={part} />;
  if (type === 'steering-message') return <Joined parts={part.parts} />;
  return type.startsWith('tool-') ? <ToolCall part={part} parts={parts} decide={decide} /> : null;
}

/** A message that the person added while the answer was written. */
function Joined({ parts }) {
  return (
    <div className="joined">
      {parts
        .filter(({ type }) => type === 'file')
        .map((file) => (
          <Attachment key={file.url} file={file} />
        ))}
      <p className="text">{textOf(parts)}</p>
    </div>
  );
}

function Sources({ parts }) {
  const sources = parts.filter(({ type }) => type === 'source-url');
  if (sources.length === 0) return null;
  return (
    <ul className="sources" aria-label="Sources">
      {sources.map(({ sourceId, url, title }) => (
        <li key={sourceId}>
          <a href={url} target="_blank" rel="noreferrer">
            {title || new URL(url).hostname}
          </a>
        </li>
      ))}
    </ul>
  );
}

/** From here on, the model reads the summary instead of the messages above. */
function Summary({ text }) {
  return (
    <aside className="summary" aria-label="Summary">
      <details>
        <summary>
          <Icon name="up" /> The messages above are summarized for the model
        </summary>
        <Prose text={text} />
      </details>
    </aside>
  );
}

const STATES = {
  'approval-requested': 'asks',
  'output-available': 'done',
  'output-error': 'failed',
  'output-denied': 'denied',
};

function ToolCall({ part, parts, decide }) {
  const { toolCallId, input, output, errorText, approval, preliminary } = part;
  // The person went on without a decision, so the server has denied the call.
  const state = part.state === 'approval-requested' && decide === undefined ? 'output-denied' : part.state;
  const asked = state === 'approval-requested' ? decide : undefined;
  const isInside = waitingInside(parts, [toolCallId]).length > 0;
  const isShown = !preliminary && !hasRuns(parts, [toolCallId]);
  return (
    <ToolCard
      name={part.type.slice('tool-'.length)}
      state={preliminary ? 'running' : (STATES[state] ?? 'running')}
      data={{ input, output: isShown ? output : undefined, errorText, edit: part.callProviderMetadata?.keelson }}
      decide={asked && !isInside ? (...decision) => asked(approval.id, ...decision) : undefined}
      isOpen={asked && isInside}
    >
      <NestedRuns parts={parts} path={[toolCallId]} decide={asked} />
    </ToolCard>
  );
}

export function textOf(parts) {
  return parts.flatMap(({ type, text }) => (type === 'text' ? [text] : [])).join('\n\n');
}
