import { useEffect, useRef, useState } from 'react';
import { Icon } from './icons.jsx';
import { Prose } from './markdown.jsx';
import { Fields, Values } from './values.jsx';

/**
 * Says what each tool does: to do, doing, done, with what, and the words to approve it with. A tool that is not in the list is
 * called by its name.
 */
const WORDS = {
  weather: ['Check', 'Checking', 'Checked', ({ city = '…' }) => `the weather in ${city}`],
  pay: [
    'Pay',
    'Paying',
    'Paid',
    ({ euro, to = '…' }) => `${euro || '…'} € to ${to}`,
    ({ euro }) => `Pay ${euro || '…'} €`,
  ],
  inspect: ['Start', 'Starting', 'Started', () => 'an inspection of the harbour'],
  screen: ['Measure', 'Measuring', 'Measured', () => 'your window'],
  pilot: ['Ask', 'Asking', 'Asked', () => 'the pilot'],
  lookout: ['Ask', 'Asking', 'Asked', () => 'the lookout'],
  answer: ['Send', 'Sending', 'Sent', () => 'this answer'],
};
const STATES = { running: 'running', asks: 'Needs your approval', done: 'done', failed: 'failed', denied: 'denied' };
const ICONS = { running: 'tool', asks: 'hand', done: 'check', failed: 'close', denied: 'close' };

/**
 * A tool call: a sentence that folds its arguments, the runs inside of it (`children`), and its result. With `decide`, the
 * card asks for a decision. With `isOpen`, something inside of it does. Neither can be folded.
 */
export function ToolCard({ name, state, data: { input, output, errorText, reason, edit }, decide, isOpen, children }) {
  const [draft, setDraft] = useState(undefined);
  const shown = (decide && draft) ?? input;
  const isHeld = Boolean(decide || isOpen);
  return (
    <details
      className={`tool ${isOpen ? 'running' : state} ${isHeld ? 'held' : ''}`}
      open={isHeld || undefined}
      aria-label={`Tool ${name}`}
    >
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a summary is a button. */}
      <summary onClick={isHeld ? (event) => event.preventDefault() : undefined}>
        <Icon name={ICONS[isOpen ? 'running' : state]} />
        <span className="title">{sentenceOf(name, isOpen ? 'running' : state, shown)}</span>{' '}
        <span className={state === 'done' ? 'hidden' : 'state'}>{isOpen ? 'waiting' : STATES[state]}</span>
      </summary>
      <div className="tool-body">
        {decide ? (
          <Decision name={name} input={input} draft={shown} change={setDraft} decide={decide} />
        ) : (
          <Arguments name={name} input={input} />
        )}
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

/** The arguments as fields, to change before the approval. Takes the focus from an empty message. */
function Decision({ name, input, draft, change, decide }) {
  const form = useRef(null);
  useEffect(() => {
    const { activeElement: focused } = document;
    if (focused === document.body || (focused.id === 'message' && focused.value === '')) form.current.focus();
  }, []);
  const isChanged = JSON.stringify(draft) !== JSON.stringify(input);
  const approve = (event) => {
    event.preventDefault();
    decide(true, isChanged ? draft : undefined);
  };
  return (
    <form ref={form} tabIndex={-1} className="decision" onSubmit={approve} aria-label={`Decide on ${name}`}>
      {name === 'answer' ? (
        <Prose text={input.text} />
      ) : (
        <>
          {Object.keys(draft).length > 0 && <p className="note">You can edit the fields before you approve.</p>}
          <Fields value={draft} change={change} />
        </>
      )}
      <div className="buttons">
        <button type="submit" className="primary">
          {approvalOf(name, draft, isChanged)}
        </button>
        <button type="button" onClick={() => decide(false)}>
          Deny
        </button>
      </div>
    </form>
  );
}

function approvalOf(name, input, isChanged) {
  return WORDS[name]?.[4]?.(input) ?? (isChanged ? 'Approve with changes' : 'Approve');
}
