import { mkdir } from 'node:fs/promises';
import { diagnosticOf, type ManifestDiagnostic } from '../../internal/problem.js';
import type { HookRegistration } from '../../shell-hooks/hook/definition.js';
import type { PresentHooks } from '../../shell-hooks/hook/identity.js';
import { DATA_VARIABLE } from '../../skills/folder.js';
import type { TrustGate } from '../../trust/gate.js';
import type { TrustItem } from '../../trust/item.js';
import type { ExtensionPackage, ExtensionPackageScope } from '../extension.js';
import type { ManifestSettings } from '../options.js';
import type { Redactor } from '../settings/redactor.js';
import { NO_SETTINGS, type ResolvedSettings, resolveSettings, storedFor } from '../settings/settings.js';
import { DeniedParts } from './denied-parts.js';
import { dataFolder } from './plugin-data.js';
import { changesRequests, type ExtensionTexts, loadExtensionTexts, NO_TEXTS } from './texts.js';
import { hookItems, type JudgedExtension, packageItem, promptItem, serverItems, settingsItem } from './trust-items.js';

/** The services and settings that `prepareExtension` needs. */
export interface PreparationContext {
  readonly settings: ManifestSettings;
  readonly gate: TrustGate;
  readonly redactor: Redactor;
  /** The current configuration of the host application. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Returns the current settings of an extension package as environment variables. Called when a hook runs. */
  readonly variablesOf: (extension: string) => Readonly<Record<string, string>>;
  /** Returns the hooks of an extension package that are registered now. */
  readonly presentOf: (extension: string) => PresentHooks;
}

/** An extension package that is ready to be activated. */
export interface PreparedExtension {
  readonly extension: ExtensionPackage;
  /** `workspace` if the parts need an approval. This includes a package of the user that `mustApprove` selects. */
  readonly scope: ExtensionPackageScope;
  readonly settings: ResolvedSettings;
  /** The reason why the extension package stays inactive: a missing setting, or a lost hook that blocks. */
  readonly blocked: string | undefined;
  readonly hooks: readonly HookRegistration[];
  readonly texts: Pick<ExtensionTexts, keyof typeof NO_TEXTS>;
  /** The reasons why parts of the package, such as hooks or servers, are not approved. */
  readonly denied: readonly string[];
  readonly diagnostics: readonly ManifestDiagnostic[];
}

/** Requests the approvals of an extension package and reads its settings and texts. Activates nothing. */
export async function prepareExtension(
  extension: ExtensionPackage,
  context: PreparationContext,
): Promise<PreparedExtension> {
  const { gate, settings: options } = context;
  const scope = mustApprove(extension, options) ? 'workspace' : extension.scope;
  const judged = { extension, scope };
  const denied = new DeniedParts(gate);
  const data = dataFolder(extension, options.userDir);
  const hooks = registrationsOf(judged, context, data);
  const items = hookItems(hooks, context.presentOf(extension.name), options.workspaceDir);
  const guards = options.hooks === false ? undefined : guardLoss(extension);
  if (scope === 'workspace' && guards === undefined) await askOnce(judged, items, context);
  const read = await readSettings(judged, context, denied);
  const settings = data === undefined ? read : { ...read, variables: { ...read.variables, [DATA_VARIABLE]: data } };
  // Settings that are not approved were not read, so there is nothing to report.
  const diagnostics = denied.messages.length > 0 ? [] : settingDiagnostics(extension, settings);
  const needed = settings.missing.length === 0 ? undefined : `it needs the setting ${settings.missing.join(', ')}`;
  const blocked = needed ?? guards;
  const base = { extension, scope, settings, blocked, denied: denied.messages };
  if (blocked !== undefined) {
    diagnostics.push(...denied.diagnostics(extension));
    return { ...base, hooks: [], texts: NO_TEXTS, diagnostics };
  }
  if (scope === 'workspace') await checkParts(denied, { judged, hooks: items }, context);
  const texts = await loadExtensionTexts(judged, { ...options, gate });
  if (texts.denied !== undefined) denied.add(texts.denied.problem, texts.denied.decision);
  // Servers are approved later, when they connect. So a package with only servers is not yet known to be approved.
  const isApproved = scope === 'user' || hooks.length + texts.skills.length > 0;
  if (isApproved && denied.messages.length === 0 && data !== undefined) {
    // If this fails, the plugin gets the error when it writes.
    await mkdir(data, { recursive: true, mode: 0o700 }).catch(() => {});
  }
  diagnostics.push(...denied.diagnostics(extension), ...texts.diagnostics);
  return { ...base, hooks, texts, diagnostics };
}

/** Asks one question about all parts of an extension package that nobody approved or declined. */
async function askOnce(
  judged: JudgedExtension,
  hooks: readonly TrustItem[],
  { gate, settings: { workspaceDir } }: PreparationContext,
): Promise<void> {
  const { extension } = judged;
  const settings = settingsItem(judged);
  const parts = [
    ...hooks,
    ...serverItems(judged, workspaceDir),
    ...(settings === undefined ? [] : [settings]),
    ...((await changesRequests(extension)) ? [promptItem(judged)] : []),
  ];
  await gate.authorizeParts?.(packageItem(judged), parts);
}

async function checkParts(
  denied: DeniedParts,
  { judged, hooks }: { readonly judged: JudgedExtension; readonly hooks: readonly TrustItem[] },
  { gate, settings: { workspaceDir } }: PreparationContext,
): Promise<void> {
  for (const item of hooks) await denied.allows(item);
  if (gate.authorizeParts === undefined) return;
  for (const item of serverItems(judged, workspaceDir)) await denied.checkServer(item);
}

/** If the host's `mustApprove` throws, the approval is required. */
function mustApprove(extension: ExtensionPackage, { mustApprove: isRequired }: ManifestSettings): boolean {
  try {
    return isRequired?.(extension) === true;
  } catch {
    return true;
  }
}

/**
 * Reads the settings of an extension package. Without an approval no environment variable, configured value or default
 * is used.
 */
async function readSettings(
  judged: JudgedExtension,
  context: PreparationContext,
  denied: DeniedParts,
): Promise<ResolvedSettings> {
  const { extension, scope } = judged;
  const item = settingsItem(judged);
  if (item === undefined) return NO_SETTINGS;
  const { env, prefix } = context.settings;
  if (scope === 'workspace' && !(await denied.allows(item))) {
    return { ...NO_SETTINGS, missing: extension.settings.flatMap((it) => (it.required ? [it.name] : [])) };
  }
  const stored = storedFor(context.config, extension.name);
  const resolved = resolveSettings(extension, { env, stored, prefix });
  for (const { name, envVar } of extension.settings.filter(({ sensitive }) => sensitive)) {
    // An invalid value may be a secret too, so it is redacted as well.
    const values = [resolved.values.get(name), envVar && env[envVar], stored[name]];
    for (const value of values) context.redactor.learn(value);
  }
  return resolved;
}

/** Returns why an extension must stay inactive: without a hook that blocks, its tools would run unguarded. */
function guardLoss({ unreadGuards = [] }: ExtensionPackage): string | undefined {
  if (unreadGuards.length === 0) return undefined;
  return `it has an invalid hook with \`onFailure: "block"\`: ${unreadGuards.join(', ')}. Correct the hook`;
}

function settingDiagnostics(
  { name: extension, source }: ExtensionPackage,
  { problems }: ResolvedSettings,
): ManifestDiagnostic[] {
  return problems.map(({ setting, message }) =>
    diagnosticOf('warning', { extension, source }, [{ path: `settings.${setting}`, message }]),
  );
}

function registrationsOf(
  { extension, scope }: JudgedExtension,
  { settings, variablesOf, redactor }: PreparationContext,
  data: string | undefined,
): readonly HookRegistration[] {
  if (settings.hooks === false) return [];
  const { name, source, root } = extension;
  // A shell expands the variable of the data directory itself.
  const expand = (text: string) => (data === undefined ? text : text.replaceAll(`\${${DATA_VARIABLE}}`, () => data));
  const redact = (text: string): string => redactor.text(text);
  return extension.hooks.map((hook) => ({
    ...(hook as HookRegistration),
    command: hook.shell ? hook.command : expand(hook.command),
    args: hook.shell ? hook.args : hook.args?.map(expand),
    scope,
    source,
    root,
    extension: name,
    variables: () => variablesOf(name),
    redact,
  }));
}
