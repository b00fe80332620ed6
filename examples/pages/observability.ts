import { Agent } from 'keelson';
import { openTelemetry } from 'keelson/otel';
import { scriptedModel } from 'keelson/testing';

// Spans go to the tracer provider that your OpenTelemetry SDK sets, such as `new NodeSDK().start()`.
const agent = new Agent({ name: 'pilot', model: scriptedModel(() => 'To the left.'), lifecycle: [openTelemetry()] });
const { text } = await agent.run('Where to?');
console.log(text);
