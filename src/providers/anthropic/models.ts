/** What differs between the models behind this API. */
export interface Abilities {
  /** Whose thinking is signed, and refused without. */
  readonly isClaude: boolean;
  /** The most tokens of an answer, where nothing else is said. */
  readonly maxTokens: number;
  /** How the model is told to think: within a budget, as it sees fit, or not at all. */
  readonly thinking: 'budget' | 'adaptive' | 'none';
  /** How thinking is turned off: by saying nothing, by saying so, or never, as with Fable and Mythos. */
  readonly thinkingOff: 'silence' | 'word' | 'never';
  /** Which of temperature and top_p it takes. */
  readonly sampling: 'both' | 'one' | 'none';
  /** Whether an answer can be held to a schema. */
  readonly hasOutputFormat: boolean;
}

const NAME = /claude[-.](?:v|([a-z]+)-)?(\d+)(?:[-.](\d{1,2})(?!\d))?/i;

/** What a model can do, told by its name, as Anthropic, Bedrock, Vertex and OpenRouter write it. A name without a number is a new one. */
export function abilitiesOf(model: string): Abilities {
  if (!/claude/i.test(model)) return OTHER;
  const [, family = '', major, minor = '0'] = NAME.exec(model) ?? [];
  // Four digits and more are a date.
  const version =
    major === undefined || major.length > 3 ? Number.POSITIVE_INFINITY : Number(major) * 100 + Number(minor);
  const isNamedNew = version >= 500 && !/^(opus|sonnet|haiku)$/i.test(family);
  return { ...abilitiesAt(version), ...(isNamedNew && { thinkingOff: 'never' }) };
}

function abilitiesAt(version: number): Abilities {
  const steps = STEPS.filter(([since]) => version >= since);
  return Object.assign({}, OLDEST, ...steps.map(([, abilities]) => abilities));
}

const OLDEST: Abilities = {
  isClaude: true,
  maxTokens: 4096,
  thinking: 'none',
  thinkingOff: 'silence',
  sampling: 'both',
  hasOutputFormat: false,
};

/** What came with which version: 406 is 4.6. */
const STEPS: readonly (readonly [number, Partial<Abilities>])[] = [
  [305, { maxTokens: 8192 }],
  [307, { maxTokens: 32_000, thinking: 'budget' }],
  [401, { sampling: 'one' }],
  [405, { hasOutputFormat: true }],
  [406, { thinking: 'adaptive' }],
  [407, { sampling: 'none' }],
  [500, { thinkingOff: 'word' }],
];

/** A server of another that speaks this protocol. */
const OTHER: Abilities = { ...OLDEST, isClaude: false, maxTokens: 8192, thinking: 'budget' };
