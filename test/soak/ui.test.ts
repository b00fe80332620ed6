import { test } from 'vitest';
import { soakCount } from '../support/soak/soak-count.js';
import { playRandomChat } from '../support/ui/random-chat.js';

const seeds = Array.from({ length: soakCount(200) }, (_, index) => 31_100 + index);

test.each(seeds)('the page of the random chat %i shows valid chunks and the stored messages', playRandomChat);
