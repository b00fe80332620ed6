import { useState } from 'react';
import { Icon } from './icons.jsx';
import { Prose } from './markdown.jsx';
import { Fields, Values } from './values.jsx';

/** Says what each tool does: to do, doing, done, and with what. A tool that is not in the list is called by its name. */
const WORDS = {
  weather: ['Check', 'Checking', 'Checked', ({ city = '…' }) => `the weather in ${city}`],
  pay: ['Pay', 'Paying', 'Paid', ({ euro = '…', to = '…' }) => `${euro} € to ${to}`],
  inspect: ['Start', 'Starting', 'Started', () => 'an inspection of the harbour'],
  screen: ['Measure', 'Measuring', 'Measured', () => 'your window'],
  pilot: ['Ask', 'Asking', 'Asked', () => 'the pilot'],
  lookout: ['Ask', 'Asking', 'Asked', () => 'the lookout'],
  answer: ['Send', 'Sending', 'Sent', () => 'this answer'],
};
const STATES = { running: 'running', asks: 'waits for you', done: 'done', failed: 'failed', denied: 'denied' };
const ICONS = { running: 'tool', asks: 'hand', done: 'check', failed: 'close', denied: 'close' };

/**
 * A tool call: a sentence that folds its arguments, the runs inside of it (`children`), and its result. With `decide`, the
 * card asks for a decision.
 */
export function ToolCard({ name, state, data: { input, output, errorText, reason, edit }, decide, isOpen, children }) {
  return (
    <details className={`tool ${state}`} open={decide || isOpen ? true : undefined} aria-label={`Tool ${name}`}>
      <summary>
        <Icon name={ICONS[state]} />
        <span className="title">{sentenceOf(name, isOpen ? 'running' : state, input)}</span>{' '}
        <span className={state === 'done' ? 'hidden' : 'state'}>{STATES[state]}</span>
      </summary>
      <div className="tool-body">
        {decide ? <Decision name={name} input={input} decide={decide} /> : <Arguments name={name} input={input} />}
        {edit && (
          <p className="note">
            Changed by a person. The model wrote: <Values value={edit.modelInput} />
          </p>
        )}
        {children}
        {output !== undefined && (
          <section className="output" aria-label="Result">
            <p className="note">Result</p>
            {typeof output === 'string' ? <Prose text={output} /> : <Values value={output} />}
          </section>
        )}
        {(errorText || reason) && <p className="note">{errorText || reason}</p>}
      </div>
    </details>
  );
}

function sentenceOf(name, state, input) {
  const [todo, doing, done, what] = WORDS[name] ?? ['Use', 'Using', 'Used', () => name];
  const verb = { running: doing, done }[state] ?? todo;
  return `${verb} ${what(input ?? {})}${state === 'asks' ? '?' : ''}`;
}

function Arguments({ name, input }) {
  if (name === 'answer') return <Prose text={input.text} />;
  return Object.keys(input ?? {}).length > 0 && <Values value={input} />;
}

/** The arguments as fields, to change before the approval. */
function Decision({ name, input, decide }) {
  const [draft, setDraft] = useState(input);
  const isChanged = JSON.stringify(draft) !== JSON.stringify(input);
  const approve = (event) => {
    event.preventDefault();
    decide(true, isChanged ? draft : undefined);
  };
  return (
    <form className="decision" onSubmit={approve} aria-label={`Decide on ${name}`}>
      {name === 'answer' ? <Prose text={input.text} /> : <Fields value={draft} change={setDraft} />}
      <div className="buttons">
        <button type="submit" className="primary">
          {isChanged ? 'Approve with changes' : 'Approve'}
        </button>
        <button type="button" onClick={() => decide(false)}>
          Deny
        </button>
      </div>
    </form>
  );
}
