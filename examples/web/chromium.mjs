// Chromium for the tests of a file. Set CHROMIUM to the path of the browser.
import { after, afterEach, before } from 'node:test';
import puppeteer from 'puppeteer-core';

export let browser;

/** Starts the browser before the tests of a file, closes its pages after each test, and the browser after the last. */
export function withBrowser() {
  before(async () => {
    const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
    browser = await puppeteer.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
  });
  afterEach(async () => {
    for (const page of (await browser.pages()).slice(1)) await page.close();
  });
  after(() => browser?.close());
}
