import type { ModelErrorKind } from '../../model/run-error.js';

/** The facts about a failed call that decide the kind of its error. */
export interface FailureSigns {
  readonly status: number | undefined;
  /** The codes, types and class names that the error mentions, in lower case. */
  readonly names: readonly string[];
  readonly message: string;
}

interface KindRule {
  readonly kind: ModelErrorKind;
  /** Matches one of the names of an error completely. */
  readonly names: RegExp;
  /** Matches a part of the error's message. */
  readonly words: RegExp;
}

/**
 * The rules for the kind of an error. The first matching rule decides; without one, the status code does.
 * test/fixtures/failures/wordings.json lists the names and wordings with their sources.
 */
const RULES: readonly KindRule[] = [
  {
    kind: 'quota',
    names:
      /^(?:insufficient_quota|credit_balance_exhausted|billing_hard_limit_reached|billing_not_active|billing_error|quota_exceeded|payment_required|1113)$/,
    words:
      /credit balance|insufficient (?:balance|credits?|quota|funds)|no credits remaining|out of credits|more credits|billing (?:hard )?limit|budget limit exceeded|exceeded your current quota|余额不足/i,
  },
  {
    kind: 'rate-limit',
    names: /^(?:rate_limit_exceeded|resource_exhausted|throttlingexception)$/,
    words:
      /\b(?:tokens|requests) per (?:min(?:ute)?|day|hour)\b|\brate limit(?:ed)?\b|\btoo many requests\b|\bwait before trying\b/i,
  },
  {
    kind: 'context-overflow',
    names:
      /^(?:context_length_exceeded|model_context_window_exceeded|exceed_context_size_error|model_max_prompt_tokens_exceeded|tokens_limit_reached|request_too_large|1261)$/,
    words: new RegExp(
      [
        /prompt (?:is )?too long|input is too long|prompt exceeds|prompt 超长|prompt token count of \d+ exceeds/,
        /maximum (?:context|prompt|model) length|max(?:imum)? context size|context length (?:(?:is|of) only|exceeded)/,
        /(?:exceeds?|exceeded|larger than|greater than|longer than|over) (?:the |its |this )?(?:model'?s? )?(?:available |maximum )?context (?:window|size|length|limit)/,
        /context (?:window|size|length|limit) (?:has been |is )?exceed|exceeds? (?:the )?limit of \d+ tokens/,
        /input token count|exceeded (?:the )?model token limit|range of input length should be/,
        /reduce the length of (?:the messages|the input|the prompt|either one)|too large for model with/,
        /`?inputs`? (?:tokens \+|must have less than)|too many (?:input )?tokens|number of input tokens exceeds/,
        /request (?:body )?(?:is )?too large|request exceeds the maximum size/,
      ]
        .map(({ source }) => source)
        .join('|'),
      'i',
    ),
  },
  {
    kind: 'tool-format',
    names: /^(?:tool_use_failed|malformed_function_call|unexpected_tool_call|invalid_tool_call)$/,
    words:
      /failed to (?:call a function|generate tool_calls|parse tool calls?)|tool call validation failed|error parsing tool call|invalid sequence as part of tooluse|malformed[_ ](?:function|tool)[_ ]call|unexpected[_ ]tool[_ ]call|too[_ ]many[_ ]tool[_ ]calls/i,
  },
  {
    kind: 'content-filter',
    names:
      /^(?:content_filter|content_policy_violation|responsibleaipolicyviolation|moderation_blocked|data_?inspection_?failed|invalid_prompt|1301|1026|1027)$/,
    words:
      /content (?:management|filtering) policy|content exists risk|input was flagged|prompt was flagged|inappropriate content|considered high risk|prohibited_content|blocked by (?:a |the )?(?:content|safety|guardrail)|new_sensitive|usage polic/i,
  },
  {
    kind: 'auth',
    names:
      /^(?:invalid_api_key|authentication_error|permission_error|permission_denied|unauthenticated|unrecognizedclientexception|accessdeniedexception|expiredtokenexception|invalidsignatureexception)$/,
    words:
      /\bapi[ _-]?key (?:not valid|is invalid|invalid|expired)|(?:incorrect|invalid|missing) api[ _-]?key|security token|not authorized|unauthorized/i,
  },
  {
    kind: 'overloaded',
    names:
      /^(?:overloaded_error|engine_overloaded_error|server_is_overloaded|unavailable|modelnotreadyexception|serviceunavailableexception|capacity_exceeded)$/,
    words:
      /\boverloaded\b|\b(?:over|at|out of|exceeded|no) capacity\b|high demand|temporarily unavailable|engine is busy/i,
  },
];

/** Matches names of errors that are caused by an invalid request. */
const INVALID = /^(?:invalid_|not_found|validationexception|validation_error|bad_request|model_not_found|unsupported_)/;

/** Returns the kind of error for a failed call, such as `rate-limit`. */
export function kindOf({ status, names, message }: FailureSigns): ModelErrorKind {
  const named = RULES.find((rule) => names.some((name) => rule.names.test(name)));
  const rule = named ?? RULES.find(({ words }) => words.test(message));
  if (rule !== undefined) return rule.kind;
  const kind = kindOfStatus(status);
  return kind === 'unknown' && names.some((name) => INVALID.test(name)) ? 'invalid-request' : kind;
}

function kindOfStatus(status: number | undefined): ModelErrorKind {
  if (status === undefined) return 'unknown';
  if (status === 401 || status === 403) return 'auth';
  if (status === 402) return 'quota';
  if (status === 408) return 'network';
  if (status === 413) return 'context-overflow';
  if (status === 429) return 'rate-limit';
  return status >= 500 ? 'overloaded' : 'invalid-request';
}
