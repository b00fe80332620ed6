// The page of a place in Chromium, under another host name.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { failureOf } from './check.mjs';

const HOST = 'chat.example.test';
const EVENT_MS = 60_000;

/** @type {Record<string, (place: import('./check.mjs').Place, open: (id: string) => Promise<any>) => Promise<void>>} */
const STEPS = {
  async 'page reload'({ services }, open) {
    const page = await open('reload');
    await send(page, 'Tell reload');
    await sees(page, 'Once upon a time.');
    await page.reload();
    await sees(page, 'Once upon a time.');
    services.story('reload').release();
    await sees(page, 'The end.');
    await hasAnswers(page, 1);
  },

  async 'page approval'(_, open) {
    const page = await open('approval');
    await send(page, 'Book A1');
    await sees(page, 'Approve');
    await page.reload();
    await sees(page, 'Approve');
    await page.locator('::-p-text(Approve)').click();
    await sees(page, 'Berth A1 is booked.');
    await sees(page, 'The tool says');
    await hasAnswers(page, 1);
  },
};

export const pageColumns = Object.keys(STEPS);

/**
 * Takes the steps in a browser. Returns the failure of each, or undefined.
 * @param {import('./check.mjs').Place} place
 * @param {import('./project.mjs').Project} project has puppeteer-core
 */
export async function checkPage(place, project) {
  const module = createRequire(join(project.folder, 'x.js')).resolve('puppeteer-core');
  const { default: puppeteer } = await import(pathToFileURL(module).href);
  const browser = await puppeteer.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', `--host-resolver-rules=MAP ${HOST} 127.0.0.1`],
  });
  /** @type {import('./check.mjs').Results} */
  const results = {};
  try {
    /** @param {string} id */
    const open = async (id) => {
      const page = await browser.newPage();
      page.setDefaultTimeout(EVENT_MS);
      await page.goto(`http://${HOST}:${new URL(place.url).port}/?id=${id}`);
      await page.waitForSelector('input');
      return page;
    };
    for (const [name, step] of Object.entries(STEPS)) results[name] = await failureOf(() => step(place, open));
  } finally {
    await browser.close();
  }
  return results;
}

/**
 * @param {any} page
 * @param {string} text
 */
async function send(page, text) {
  await page.type('input', text);
  await page.keyboard.press('Enter');
}

/**
 * @param {any} page
 * @param {string} text
 */
async function sees(page, text) {
  await page.waitForSelector(`::-p-text(${text})`).catch(async (/** @type {unknown} */ error) => {
    throw new Error(`no "${text}" on the page: ${await page.evaluate('document.body.innerText')}`, { cause: error });
  });
}

/**
 * @param {any} page
 * @param {number} count
 */
async function hasAnswers(page, count) {
  await sees(page, 'ready');
  const answers = await page.$$eval('article.assistant', (/** @type {unknown[]} */ list) => list.length);
  if (answers !== count) throw new Error(`the page has ${answers} answers`);
}
