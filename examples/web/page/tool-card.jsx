import { useState } from 'react';

/** A tool call: its name, a word for its state, its arguments and its result. With `decide`, it waits for a decision. */
export function ToolCard({ name, state, word, data: { input, output, errorText }, decide, children }) {
  return (
    <section className={`tool ${state}`} aria-label={`Tool ${name}`}>
      <h2>
        {name} <span className="state">{word}</span>
      </h2>
      <pre>{shown(input ?? {})}</pre>
      {children}
      {output !== undefined && <pre className="output">{shown(output)}</pre>}
      {errorText && <p className="error">{errorText}</p>}
      {decide && <Decision name={name} input={input} decide={decide} />}
    </section>
  );
}

function Decision({ name, input, decide }) {
  const [draft, setDraft] = useState(undefined);
  if (draft !== undefined) {
    const approve = (changed) => decide(true, changed);
    return <Changes draft={draft} change={setDraft} approve={approve} cancel={() => setDraft(undefined)} />;
  }
  return (
    <fieldset className="decision" aria-label={`Decide on ${name}`}>
      <button type="button" className="primary" onClick={() => decide(true)}>
        Approve
      </button>
      {/* A suspended answer has no arguments. */}
      {name !== 'answer' && (
        <button type="button" onClick={() => setDraft(shown(input))}>
          Edit
        </button>
      )}
      <button type="button" onClick={() => decide(false)}>
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
