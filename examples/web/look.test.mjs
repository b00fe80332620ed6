// Takes pictures of the page in both colour schemes and on two screens, and tests each for accessibility and width.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { click, open, problems, ready, sees, send, setUp, shot } from './browser.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const SCREENS = [
  { width: 1_280, height: 800 },
  { width: 375, height: 812, isMobile: true, hasTouch: true },
];

setUp({ wordMs: 1 });

/** Waits until the list of chats has the chat of the page, so that every picture shows the same. */
async function settle(page) {
  await ready(page);
  await page.waitForFunction(() => document.querySelector('.chats .current') !== null);
}

async function ask(page, question) {
  await send(page, question);
  await page.waitForSelector('article.user');
  await settle(page);
  await page.waitForSelector('.spent, .notice');
}

const scenes = {
  /** Deletes all chats, so that the pictures of each screen begin with none. */
  empty: async (page) => {
    await page.evaluate(async () => {
      const chats = await (await fetch('/api/chats/')).json();
      for (const { id } of chats) await fetch(`/api/chats/${id}`, { method: 'DELETE' });
    });
    await page.reload();
    await sees(page, 'How can I help?');
    await page.waitForSelector('.chats > .note');
  },
  answer: async (page) => {
    await ask(page, 'Plan the arrivals of tomorrow');
    await sees(page, 'berth 3');
    await page.$eval('.messages', (log) => log.scrollTo(0, 0));
    await page.waitForSelector('[aria-label="To the latest message"]');
  },
  tool: async (page) => {
    await ask(page, 'Can the Aurora come in today?');
    await sees(page, 'Yes, the Aurora can come in today.');
    await page.$eval('.tool', (card) => {
      card.open = true;
    });
  },
  approval: async (page) => {
    await ask(page, 'Pay the harbour fee of 40 euro');
    await sees(page, 'Needs your approval');
    await page.waitForFunction(() => document.activeElement.matches('.decision'));
  },
  branches: async (page) => {
    await ask(page, 'How deep is the harbour?');
    await page.hover('article.user');
    await click(page, 'Edit message');
    await page.locator('textarea[aria-label="Edited message"]').fill('How deep is berth 3?');
    await click(page, 'Ask again');
    await sees(page, 'Berth 3 is 9.8 m deep');
    await ready(page);
    await sees(page, '2/2');
    await page.waitForFunction(() => document.querySelector('h1').textContent === 'How deep is berth 3?');
  },
  error: async (page) => {
    await ask(page, 'What does the tide gauge say?');
    await sees(page, 'The model could not finish its answer.');
  },
  chats: async (page) => {
    await ask(page, 'What is the weather in Oslo?');
    await sees(page, 'The sky over Oslo');
    if (page.viewport().width === 375) await click(page, 'Chats');
    await page.$eval('.chats .current .icon-button', (button) => button.click());
    await page.waitForFunction(() => document.activeElement.closest('.question') !== null);
  },
};

for (const viewport of SCREENS) {
  for (const [name, show] of Object.entries(scenes)) {
    test(`has no barrier and no sideways scroll: ${name}, ${viewport.width} px`, async () => {
      const page = await open();
      await page.setViewport(viewport);
      await page.waitForSelector('#message');
      await show(page);
      for (const scheme of ['light', 'dark']) {
        await page.emulateMediaFeatures([
          { name: 'prefers-color-scheme', value: scheme },
          { name: 'prefers-reduced-motion', value: 'reduce' },
        ]);
        await shot(page, `${name}-${scheme}-${viewport.width}`);
        await page.evaluate(axe);
        const { violations } = await page.evaluate(() => globalThis.axe.run());
        const found = violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]);
        assert.deepEqual(found, [], scheme);
      }
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'scrolls sideways');
      assert.deepEqual(problems, []);
    });
  }
}
