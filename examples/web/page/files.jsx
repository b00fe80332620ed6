import { Icon, IconButton } from './icons.jsx';

const MAX_BYTES = 2_500_000;

/** Throws an error for people if the files of a message are too large for the server. */
export function checkSize(files) {
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (bytes > MAX_BYTES) throw new Error('These files are too large. All files of a message may have 2.5 MB.');
}

/** Reads files as parts of a message, each with its size in bytes. */
export function readFiles(files) {
  return Promise.all(files.map(readFile));
}

function readFile(file) {
  const { promise, resolve, reject } = Promise.withResolvers();
  const reader = new FileReader();
  reader.onload = () => {
    const mediaType = file.type || 'application/octet-stream';
    resolve({ size: file.size, part: { type: 'file', mediaType, filename: file.name, url: reader.result } });
  };
  reader.onerror = () => reject(new Error(`The file "${file.name}" cannot be read.`));
  reader.readAsDataURL(file);
  return promise;
}

/** A picture, or the name of another file. With `remove`, it can be taken away. */
export function Attachment({ file: { mediaType, url, filename }, remove }) {
  return (
    <span className="attachment">
      {mediaType.startsWith('image/') ? (
        <img src={url} alt={filename ?? 'Attached picture'} />
      ) : (
        <span className="file">
          <Icon name="file" /> {filename ?? 'File'}
        </span>
      )}
      {remove && <IconButton name="close" label={`Remove ${filename}`} onClick={remove} />}
    </span>
  );
}
