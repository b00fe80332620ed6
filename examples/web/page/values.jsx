/** Names that say more than those of the arguments. */
const NAMES = { euro: 'Amount (€)', prompt: 'Request' };

/** Shows JSON in words: names with their values, lists, and text. */
export function Values({ value }) {
  if (Array.isArray(value)) {
    return (
      <ul className="values">
        {value.map((item, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes its order.
          <li key={index}>
            <Values value={item} />
          </li>
        ))}
      </ul>
    );
  }
  if (value === null || typeof value !== 'object') return <p className="value">{String(value)}</p>;
  return (
    <dl className="values">
      {Object.entries(value).map(([name, item]) => (
        <div key={name}>
          <dt>{inWords(name)}</dt>
          <dd>
            <Values value={item} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Fields for the arguments of a call: each keeps the type of its value. */
export function Fields({ value, change }) {
  return Object.entries(value).map(([name, item]) => (
    <Field key={name} name={inWords(name)} value={item} change={(next) => change(withItem(value, name, next))} />
  ));
}

function Field({ name, value, change }) {
  if (value !== null && typeof value === 'object') {
    return (
      <fieldset>
        <legend>{name}</legend>
        <Fields value={value} change={change} />
      </fieldset>
    );
  }
  if (typeof value === 'boolean') {
    return (
      <label className="field">
        <input type="checkbox" checked={value} onChange={(event) => change(event.target.checked)} /> {name}
      </label>
    );
  }
  const isNumber = typeof value === 'number';
  const onChange = ({ target }) => change(isNumber ? target.valueAsNumber : target.value);
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: both branches are controls.
    <label className="field">
      <span>{name}</span>
      {isNumber ? (
        <input type="number" step="any" required defaultValue={value} onChange={onChange} />
      ) : (
        <textarea rows={1} defaultValue={value ?? ''} onChange={onChange} />
      )}
    </label>
  );
}

function withItem(value, name, item) {
  return Array.isArray(value) ? value.with(Number(name), item) : { ...value, [name]: item };
}

/** `harbour_fee` and `harbourFee` become "Harbour fee". */
function inWords(name) {
  if (Object.hasOwn(NAMES, name)) return NAMES[name];
  const words = name.replaceAll(/[_-]+/g, ' ').replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase(); // biome-ignore format: one line.
  return words.charAt(0).toUpperCase() + words.slice(1);
}
