import { ToolCard } from './tool-card.jsx';

/** The runs inside of a tool call, folded. `path` has the ids of the calls that lead to them. */
export function NestedRuns({ parts, path }) {
  const runs = dataOf(parts, 'data-nested-run').filter((run) => run.path.join() === path.join());
  return runs.map(({ runId, agent, status, errorText }) => (
    <details key={runId} className="nested" aria-label={`Agent ${agent}`}>
      <summary>
        Agent {agent} <span className="state">{status}</span>
      </summary>
      {dataOf(parts, 'data-nested-step')
        .filter((step) => step.runId === runId)
        .map(({ turn, text, calls }) => (
          <div key={turn}>
            {text && <p className="text">{text}</p>}
            {calls.map((call) => (
              <NestedCall key={call.id} call={call} parts={parts} path={[...path, call.id]} />
            ))}
          </div>
        ))}
      {errorText && <p className="error">{errorText}</p>}
    </details>
  ));
}

function dataOf(parts, type) {
  return parts.filter((part) => part.type === type).map(({ data }) => data);
}

function NestedCall({ call: { name, status, ...data }, parts, path }) {
  return (
    <ToolCard name={name} state={status} word={status} data={data}>
      <NestedRuns parts={parts} path={path} />
    </ToolCard>
  );
}
