import { KeelsonError } from '../errors.js';

/** A request to the chat handler was refused. Nothing has run, and nothing was stored. */
export abstract class UIRequestError extends KeelsonError {
  /** The HTTP status code of the response. */
  abstract readonly status: number;
  /** True if the same request may succeed later. */
  readonly retryable: boolean = false;
}

/** The body of the request is not JSON, or does not have the expected members. */
export class UIBodyInvalidError extends UIRequestError {
  readonly code = 'ERR_UI_BODY_INVALID';
  readonly status = 400;
}

/** `authorize` returned no identity for the request. */
export class UIUnauthorizedError extends UIRequestError {
  readonly code = 'ERR_UI_UNAUTHORIZED';
  readonly status = 401;

  constructor() {
    super('The request has no identity. Sign in first.');
  }
}

/** The request comes from a web page of another origin, which is not in the option `origins`. */
export class UIOriginRefusedError extends UIRequestError {
  readonly code = 'ERR_UI_ORIGIN_REFUSED';
  readonly status = 403;

  constructor(origin: string, own: URL) {
    super(
      `The origin ${JSON.stringify(origin)} must be the origin of the server, ${JSON.stringify(own.origin)}, or one of ` +
        '`origins`. Behind a proxy, set `trustProxy`, or let the proxy pass the `Host` header on.',
    );
  }
}

/**
 * The `Host` header of the request is not in the option `hosts`. The check stops DNS rebinding, in which a foreign page
 * points its own host name to the address of this server.
 */
export class UIHostRefusedError extends UIRequestError {
  readonly code = 'ERR_UI_HOST_REFUSED';
  readonly status = 403;

  constructor(host: string, hosts: readonly string[]) {
    super(
      `The host ${JSON.stringify(host)} must be one of \`hosts\`: ${hosts.join(', ')}. Add the name of the server to \`hosts\`.`,
    );
  }
}

/** The request approves or denies something, but `mayDecide` returned false for this person. */
export class UIDecisionRefusedError extends UIRequestError {
  readonly code = 'ERR_UI_DECISION_REFUSED';
  readonly status = 403;

  constructor() {
    super('This person may not approve or deny tool calls and answers of this chat. Another person has to decide.');
  }
}

/** `session` returned undefined. The chat is unknown, or belongs to another person. */
export class UIChatUnknownError extends UIRequestError {
  readonly code = 'ERR_UI_CHAT_UNKNOWN';
  readonly status = 404;

  constructor() {
    super('The chat is unknown, or belongs to another user.');
  }
}

/** The route does not accept the HTTP method of the request. */
export class UIMethodInvalidError extends UIRequestError {
  readonly code = 'ERR_UI_METHOD_INVALID';
  readonly status = 405;
  /** The HTTP method that the route accepts. */
  readonly allow: string;

  constructor(method: string, allow: string) {
    super(`The HTTP method must be ${allow}, got ${method}.`);
    this.allow = allow;
  }
}

/** The last message of the request is larger than `maxBodyBytes`, or the whole body is more than 16 times as large. */
export class UIBodyTooLargeError extends UIRequestError {
  readonly code = 'ERR_UI_BODY_TOO_LARGE';
  readonly status = 413;

  constructor(maxBodyBytes: number) {
    super(
      `The last message of the body must have at most ${maxBodyBytes} bytes (\`maxBodyBytes\`), and the whole body ` +
        'at most 16 times as much. Send a smaller message, or only the last one.',
    );
  }
}

/** The body of the request was already read when the handler received the request. */
export class UIBodyUsedError extends UIRequestError {
  readonly code = 'ERR_UI_BODY_USED';
  readonly status = 500;

  constructor() {
    super(
      'Other code has read the body of the request before the handler. Let that code read `request.clone()`, or pass ' +
        '`new Request(request, { body })` to the handler, with the body that was read.',
    );
  }
}

/** The content type of the request is not `application/json`. */
export class UIContentTypeInvalidError extends UIRequestError {
  readonly code = 'ERR_UI_CONTENT_TYPE_INVALID';
  readonly status = 415;

  constructor(contentType: string | null) {
    super(`The content-type of the request must be "application/json", got ${JSON.stringify(contentType)}.`);
  }
}

/** The request contains an assistant message that this chat did not send. */
export class UIHistoryUnknownError extends UIRequestError {
  readonly code = 'ERR_UI_HISTORY_UNKNOWN';
  readonly status = 409;
}

/**
 * The request decides on a tool call or an answer that does not wait for a decision. Or it contains the result of a
 * call that does not wait for a result.
 */
export class UICallUnknownError extends UIRequestError {
  readonly code = 'ERR_UI_CALL_UNKNOWN';
  readonly status = 409;
}

/** Tool calls or an answer of the session wait for decisions or results, but the request contains none of them. */
export class UIDecisionMissingError extends UIRequestError {
  readonly code = 'ERR_UI_DECISION_MISSING';
  readonly status = 409;
  /** The ids of the waiting tool calls, or `answer` for a suspended answer. */
  readonly calls: readonly string[];

  constructor(calls: readonly string[]) {
    super(
      `Tool calls or an answer wait for a decision: ${calls.map((id) => `"${id}"`).join(', ')}. Approve or deny one of them, or send the result of a call.`,
    );
    this.calls = calls;
  }
}

/** The request regenerates or edits a message that the session does not contain. */
export class UIMessageUnknownError extends UIRequestError {
  readonly code = 'ERR_UI_MESSAGE_UNKNOWN';
  readonly status = 409;

  constructor() {
    super('The session does not contain this message. Load the history again.');
  }
}

/** Another run of the session is active and did not end within `queueMs`. */
export class UISessionBusyError extends UIRequestError {
  readonly code = 'ERR_UI_SESSION_BUSY';
  readonly status = 409;
  override readonly retryable = true;
  readonly timeoutMs: number;

  constructor(timeoutMs: number) {
    super(`The chat was still answering after ${timeoutMs} ms (\`queueMs\`). Wait for the answer, or stop it.`);
    this.timeoutMs = timeoutMs;
  }
}

/** The agent is closing or closed, such as while its server shuts down. */
export class UIClosingError extends UIRequestError {
  readonly code = 'ERR_UI_CLOSING';
  readonly status = 503;
  override readonly retryable = true;

  constructor() {
    super('The server is shutting down. Send the request again in a moment.');
  }
}
