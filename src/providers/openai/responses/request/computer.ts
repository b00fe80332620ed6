import type { ToolResultPart } from '../../../../model/message.js';
import { fileOf } from '../../../shared/file-data.js';
import { defined, isObject, objectsIn, textOr, type WireObject } from '../../../shared/wire.js';
import { toUrl } from './content.js';
import { dataIn, plainOutput } from './outputs.js';

/** A white image of one pixel. The API requires a screenshot, also from an action that failed. */
const BLANK =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mP8/x8AAwMCAO+ip1sAAAAASUVORK5CYII=';

/**
 * Returns the items for a computer call's result. The screenshot is the image of the result, or `image_url` or
 * `file_id` in its data; the names of the AI SDK are accepted too. A result without a screenshot gets a blank image, and its text follows in a user message.
 */
export function computerOutput(result: ToolResultPart, callId: string): readonly WireObject[] {
  const data = dataIn(result);
  const given = isObject(data) ? data : {};
  const shot = screenshotIn(result, given);
  const output = { type: 'computer_screenshot', ...(shot ?? { image_url: BLANK }) };
  const checks = objectsIn(given.acknowledged_safety_checks ?? given.acknowledgedSafetyChecks);
  const acknowledged_safety_checks = checks.length > 0 ? checks : undefined;
  const item = defined({ type: 'computer_call_output', call_id: callId, output, acknowledged_safety_checks });
  if (shot !== undefined) return [item];
  return [item, { role: 'user', content: [{ type: 'input_text', text: plainOutput(result) }] }];
}

function screenshotIn({ content }: ToolResultPart, given: WireObject): WireObject | undefined {
  for (const part of typeof content === 'string' ? [] : content) {
    if (part.type !== 'text' && fileOf(part).mediaType.startsWith('image/')) return { image_url: toUrl(fileOf(part)) };
  }
  const {
    imageUrl,
    image_url = imageUrl,
    fileId,
    file_id = fileId,
    detail,
  } = isObject(given.output) ? given.output : given;
  if (textOr(image_url) === '' && textOr(file_id) === '') return undefined;
  return defined({ image_url, file_id, detail });
}
