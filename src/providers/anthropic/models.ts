/** The features that a model of the Messages API supports, and its limits. */
export interface Abilities {
  /** True for a Claude model. Claude models sign their thinking, and refuse unsigned thinking. */
  readonly isClaude: boolean;
  /** The default value of `max_tokens` for the model. */
  readonly maxTokens: number;
  /** How thinking is requested: with a token budget, as adaptive thinking, or not at all. */
  readonly thinking: 'budget' | 'adaptive' | 'none';
  /**
   * How thinking is turned off: by leaving out the field, with the value `disabled`, or never. Fable and Mythos always
   * think.
   */
  readonly thinkingOff: 'omit' | 'disabled' | 'never';
  /** Which of `temperature` and `top_p` a request may contain: both, only one of them, or none. */
  readonly sampling: 'both' | 'one' | 'none';
  /** True if the model supports structured output with the request field `output_config.format`. */
  readonly hasOutputFormat: boolean;
  /** True if the model can search for tools with Anthropic's tool search. */
  readonly findsTools: boolean;
}

const NAME = /claude[-.](?:v|([a-z]+)-)?(\d+)(?:[-.](\d{1,2})(?!\d))?/i;

/**
 * Returns what a model supports, judged by its name as Anthropic, Bedrock, Vertex or OpenRouter writes it. A Claude
 * name without a version counts as the newest model.
 */
export function abilitiesOf(model: string): Abilities {
  if (!/claude/i.test(model)) return OTHER;
  const [, family = '', major, minor = '0'] = NAME.exec(model) ?? [];
  // A number of four or more digits is a date.
  const version =
    major === undefined || major.length > 3 ? Number.POSITIVE_INFINITY : Number(major) * 100 + Number(minor);
  const isHaiku = /^haiku$/i.test(family);
  const isNamedNew = version >= 500 && !/^(opus|sonnet|haiku)$/i.test(family);
  const abilities = abilitiesAt(version);
  return {
    ...abilities,
    thinkingOff: isNamedNew ? 'never' : abilities.thinkingOff,
    findsTools: abilities.findsTools && !isHaiku,
  };
}

function abilitiesAt(version: number): Abilities {
  const steps = STEPS.filter(([since]) => version >= since);
  return Object.assign({}, OLDEST, ...steps.map(([, abilities]) => abilities));
}

const OLDEST: Abilities = {
  isClaude: true,
  maxTokens: 4096,
  thinking: 'none',
  thinkingOff: 'omit',
  sampling: 'both',
  hasOutputFormat: false,
  findsTools: false,
};

/**
 * The features that Claude models support since each version, in addition to older ones. 406 stands for version 4.6.
 */
const STEPS: readonly (readonly [number, Partial<Abilities>])[] = [
  [305, { maxTokens: 8192 }],
  [307, { maxTokens: 32_000, thinking: 'budget' }],
  [401, { sampling: 'one' }],
  [405, { hasOutputFormat: true, findsTools: true }],
  [406, { thinking: 'adaptive' }],
  [407, { sampling: 'none' }],
  [500, { thinkingOff: 'disabled' }],
];

/** The features that models of other vendors with this API support. */
const OTHER: Abilities = { ...OLDEST, isClaude: false, maxTokens: 8192, thinking: 'budget' };
