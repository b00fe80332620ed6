import { useRef, useState } from 'react';
import { Attachment, checkSize, readFiles } from './files.jsx';
import { Icon, IconButton } from './icons.jsx';

/**
 * The form: a text, and files by button, paste and drop. Enter sends, Shift+Enter starts a line, Escape stops the answer. A
 * message that is sent during the answer is added to it.
 */
export function Composer({ isBusy, placeholder, send, stop, spent }) {
  const [text, setText] = useState('');
  const [files, setFiles] = useState([]);
  const [problem, setProblem] = useState('');
  const [isOver, setOver] = useState(false);
  const picker = useRef(null);
  // The same files as in the state, before the next render too.
  const latest = useRef(files);
  const isEmpty = text.trim() === '' && files.length === 0;

  const change = (changed) => {
    latest.current = changed;
    setFiles(changed);
  };
  const submit = (event) => {
    event.preventDefault();
    if (isEmpty) return;
    void send([...files.map(({ part }) => part), ...(text.trim() === '' ? [] : [{ type: 'text', text }])]);
    setText('');
    change([]);
    setProblem('');
  };
  const add = async (list) => {
    try {
      const added = [...list];
      checkSize([...latest.current, ...added]);
      const read = await readFiles(added);
      // Other files may have been added meanwhile.
      const all = [...latest.current, ...read];
      checkSize(all);
      change(all);
      setProblem('');
    } catch (error) {
      setProblem(error.message);
    }
  };
  const onKeyDown = (event) => {
    if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) submit(event);
    if (event.key === 'Escape' && isBusy) void stop();
  };
  const onPaste = (event) => {
    if (event.clipboardData.files.length === 0) return;
    event.preventDefault();
    void add(event.clipboardData.files);
  };
  const onDrag = (event) => {
    event.preventDefault();
    setOver(event.type === 'dragover');
    if (event.type === 'drop') void add(event.dataTransfer.files);
  };

  return (
    <form
      className={`composer ${isOver ? 'over' : ''}`}
      onSubmit={submit}
      onDragOver={onDrag}
      onDragLeave={onDrag}
      onDrop={onDrag}
    >
      {files.length > 0 && (
        <div className="previews">
          {files.map((file) => (
            <Attachment
              key={file.part.url}
              file={file.part}
              remove={() => change(files.filter((one) => one !== file))}
            />
          ))}
        </div>
      )}
      <textarea
        id="message"
        aria-label="Message"
        placeholder={placeholder}
        rows={1}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
        onPaste={onPaste}
      />
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        onChange={({ target }) => {
          void add(target.files);
          target.value = '';
        }}
      />
      <div className="tools">
        <IconButton name="clip" label="Attach files" onClick={() => picker.current.click()} />
        <p className="problem" role="alert">
          {problem}
        </p>
        <Spent {...spent} />
        {isBusy && <IconButton name="stop" label="Stop" onClick={stop} />}
        {(!isBusy || !isEmpty) && (
          <button type="submit" className="send" aria-label={isBusy ? 'Add' : 'Send'} disabled={isEmpty}>
            <Icon name="up" />
          </button>
        )}
      </div>
    </form>
  );
}

/** How full the context of the model is, and what the chat has cost. */
function Spent({ context, tokens, usd, limit }) {
  if (!tokens) return null;
  const percent = Math.min(100, Math.ceil((context / limit) * 100));
  const title = `${context.toLocaleString('en')} of ${limit.toLocaleString('en')} tokens in the context. ${tokens.toLocaleString('en')} tokens in all.`;
  return (
    <p className="spent" title={title}>
      <span className="meter" aria-hidden="true" style={{ '--full': percent }} /> Context {percent} %
      <span> · {usd < 0.01 ? 'under $0.01' : `$${usd.toFixed(2)}`}</span>
    </p>
  );
}
