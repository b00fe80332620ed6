import { test } from 'vitest';
import { playRandomAgUI } from '../support/ui/random-ag-ui.js';
import { playRandomChat } from '../support/ui/random-chat.js';
import { playVanishingClients } from '../support/ui/vanishing-clients.js';

const seedsFrom = (first: number) => Array.from({ length: 200 }, (_, index) => first + index);

test.each(seedsFrom(31_100))(
  'the page of the random chat %i shows valid chunks and the stored messages',
  playRandomChat,
);

test.each(seedsFrom(32_100))('the client of AG-UI accepts the events of the random runs %i', playRandomAgUI);

test('leaves no run behind when many clients read slowly or disconnect', () => playVanishingClients(500));
