// The program of the trace page. `src/cli/page/page-source.ts` bundles it into one string.
import { readTrace } from '../trace/record-line.js';
import { App } from './view/app.js';
import { element } from './view/element.js';
import { followFolder } from './view/follow.js';

const app = new App(document.body);
const data = document.getElementById('trace')?.textContent;
try {
  if (data) app.show(readTrace(data));
  else followFolder(app);
} catch (error) {
  document.body.replaceChildren(
    element('p', { class: 'calm', text: error instanceof Error ? error.message : String(error) }),
  );
}
performance.mark('shown');
