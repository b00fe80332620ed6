import { describe, expect, test } from 'vitest';
import { readHistories, secondBody } from '../../../support/providers/responses/history.js';
import { problemOf } from '../../../support/providers/responses/strict-server.js';

const histories = readHistories();

test('there are at least 60 histories with different names', () => {
  expect(new Set(histories.map(({ name }) => name)).size).toBeGreaterThanOrEqual(60);
});

describe.each(histories)('after $name', (history) => {
  test.each([false, true])('the second request is what the documentation asks for, streamed: %s', async (streams) => {
    const { stream, ...body } = await secondBody(history, streams);

    expect(body).toEqual(history.sent);
    expect(problemOf(body as Parameters<typeof problemOf>[0])).toBeUndefined();
  });
});
