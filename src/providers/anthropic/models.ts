/** The abilities of a model of this API. */
export interface Abilities {
  /** True for a Claude model. Claude models sign their thinking, and refuse unsigned thinking. */
  readonly isClaude: boolean;
  /** The default of `max_tokens`. */
  readonly maxTokens: number;
  /** How thinking is requested: with a token budget, as adaptive thinking, or not supported. */
  readonly thinking: 'budget' | 'adaptive' | 'none';
  /** How thinking is turned off: by omitting the field, with `disabled`, or not at all, as for Fable and Mythos. */
  readonly thinkingOff: 'omit' | 'disabled' | 'never';
  /** How many of temperature and top_p a request may contain. */
  readonly sampling: 'both' | 'one' | 'none';
  /** True if the model supports `output_config.format`. */
  readonly hasOutputFormat: boolean;
  /** True if the model supports Anthropic's search among deferred tools. */
  readonly findsTools: boolean;
}

const NAME = /claude[-.](?:v|([a-z]+)-)?(\d+)(?:[-.](\d{1,2})(?!\d))?/i;

/**
 * Returns a model's abilities from its name, as written by Anthropic, Bedrock, Vertex and OpenRouter.
 * A Claude name without a version counts as the newest model.
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

/** Abilities added by each version; 406 is version 4.6. */
const STEPS: readonly (readonly [number, Partial<Abilities>])[] = [
  [305, { maxTokens: 8192 }],
  [307, { maxTokens: 32_000, thinking: 'budget' }],
  [401, { sampling: 'one' }],
  [405, { hasOutputFormat: true, findsTools: true }],
  [406, { thinking: 'adaptive' }],
  [407, { sampling: 'none' }],
  [500, { thinkingOff: 'disabled' }],
];

/** Models of other vendors with this API. */
const OTHER: Abilities = { ...OLDEST, isClaude: false, maxTokens: 8192, thinking: 'budget' };
