import { test } from 'vitest';
import { playRandomChat } from '../../support/ui/random-chat.js';

const seeds = Array.from({ length: 20 }, (_, index) => 31_000 + index);

test.each(seeds)('the page of the random chat %i shows valid chunks and the stored messages', playRandomChat);
