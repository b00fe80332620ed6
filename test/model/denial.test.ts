import { expect, test } from 'vitest';
import { deniedAnswer, deniedCall, isDeniedAnswer, reasonOfDeniedCall } from '../../src/model/denial.js';

test.each([undefined, 'too risky', 'two\nlines. Answer again.'])(
  'the text of a denial is recognised with reason %j',
  (reason) => {
    expect(isDeniedAnswer(deniedAnswer(reason))).toBe(true);
    expect(reasonOfDeniedCall(deniedCall(reason))).toBe(reason);
  },
);

test('does not take other texts for denials', () => {
  expect(isDeniedAnswer('Answer again.')).toBe(false);
  expect(reasonOfDeniedCall('The call was denied.')).toBeUndefined();
});
