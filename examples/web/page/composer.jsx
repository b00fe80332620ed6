import { useRef, useState } from 'react';

/**
 * The form: a text, pictures, and the buttons. Enter sends, Shift+Enter starts a line, Escape stops the answer. A text that is
 * sent during the answer is added to it.
 */
export function Composer({ isBusy, send, add, stop, answerAgain }) {
  const [text, setText] = useState('');
  const [files, setFiles] = useState(undefined);
  const picker = useRef(null);

  const submit = (event) => {
    event.preventDefault();
    if (text.trim() === '' && (isBusy || files === undefined)) return;
    setText('');
    if (isBusy) return void add(text);
    void send({ text, ...(files && { files }) });
    setFiles(undefined);
    picker.current.value = '';
  };
  const onKeyDown = (event) => {
    if (event.key === 'Enter' && !event.shiftKey) submit(event);
    if (event.key === 'Escape' && isBusy) void stop();
  };

  return (
    <form onSubmit={submit}>
      <label className="attach">
        <span>{files ? files[0].name : 'Picture'}</span>
        <input
          ref={picker}
          type="file"
          accept="image/*"
          aria-label="Attach a picture"
          onChange={(event) => setFiles(event.target.files.length > 0 ? event.target.files : undefined)}
        />
      </label>
      <textarea
        aria-label="Message"
        placeholder="Write a message"
        rows={1}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      {answerAgain && (
        <button type="button" onClick={answerAgain}>
          Answer again
        </button>
      )}
      {isBusy ? (
        <>
          <button type="submit">Add</button>
          <button type="button" className="primary" onClick={stop}>
            Stop
          </button>
        </>
      ) : (
        <button type="submit" className="primary">
          Send
        </button>
      )}
    </form>
  );
}
