import { useEffect, useState } from 'react';
import { Prose } from './markdown.jsx';
import { ToolCard } from './tool-card.jsx';

/**
 * The runs inside of a tool call. `path` has the ids of the calls that lead to them. With `decide`, the page may decide on what
 * waits.
 */
export function NestedRuns({ parts, path, decide }) {
  return runsIn(parts, path).map(({ runId, agent, status, errorText }) => (
    <section key={runId} className="nested" aria-label={`Agent ${agent}`}>
      {stepsOf(parts, runId).map(({ turn, text, calls }) => (
        <div key={turn}>
          {text && <Prose text={text} />}
          {calls.map((call) => (
            <NestedCall key={call.id} call={call} parts={parts} path={[...path, call.id]} decide={decide} />
          ))}
        </div>
      ))}
      {status === 'stopped' && <p className="note">The agent was stopped.</p>}
      {errorText && <p className="note">{errorText}</p>}
    </section>
  ));
}

/** Returns the ids of everything that waits inside of a call: the ids of the calls that lead to it, and its own. */
export function waitingInside(parts, path) {
  return runsIn(parts, path).flatMap(({ runId }) =>
    stepsOf(parts, runId).flatMap(({ calls }) =>
      calls.flatMap(({ id, status }) => {
        const own = [...path, id];
        return status === 'pending' ? [own.join('/')] : waitingInside(parts, own);
      }),
    ),
  );
}

function NestedCall({ call: { name, status, ...data }, parts, path, decide }) {
  const [isDecided, setDecided] = useState(false);
  const isAsked = decide !== undefined;
  // The card is decided. If the server refuses the decision, the card asks again.
  useEffect(() => {
    if (!isAsked) setDecided(false);
  }, [isAsked]);
  const asks = status === 'pending' && isAsked && !isDecided;
  const decideOnce = (...decision) => {
    setDecided(true);
    decide(path.join('/'), ...decision);
  };
  const settled = status === 'pending' ? 'running' : status;
  return (
    <ToolCard
      name={name}
      state={asks ? 'asks' : settled}
      data={{ ...data, ...(asks && { reason: undefined }), ...(hasRuns(parts, path) && { output: undefined }) }}
      decide={asks ? decideOnce : undefined}
      isOpen={isAsked && waitingInside(parts, path).length > 0}
    >
      <NestedRuns parts={parts} path={path} decide={decide} />
    </ToolCard>
  );
}

/** True if the call has started an agent. Its result is then the last text of that agent. */
export function hasRuns(parts, path) {
  return runsIn(parts, path).length > 0;
}

function runsIn(parts, path) {
  return dataOf(parts, 'data-nested-run').filter((run) => run.path.join() === path.join());
}

function stepsOf(parts, runId) {
  return dataOf(parts, 'data-nested-step').filter((step) => step.runId === runId);
}

function dataOf(parts, type) {
  return parts.filter((part) => part.type === type).map(({ data }) => data);
}
