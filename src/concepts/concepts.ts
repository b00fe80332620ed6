export type { ConceptRecord } from './augmentation.js';
export { type CommandContextOptions, commandContext } from './command-context.js';
export { type ConceptAugmentationOptions, conceptAugmentation } from './concept-augmentation.js';
export { ConceptCommandError } from './concept-error.js';
export {
  type ConceptClient,
  type ConceptModule,
  conceptModule,
  type ToolExecuteBefore,
  type ToolExecuteInput,
  type ToolExecuteOutput,
} from './concept-module.js';
export type { ConceptOptions } from './concept-options.js';
export type { BuildContext, ConceptRequest } from './concept-request.js';
export { conceptsIn } from './wiki-links.js';
