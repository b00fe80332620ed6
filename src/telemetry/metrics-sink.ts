/** What a figure is about, such as `{ extension_id: 'notes' }`. */
export type MetricLabels = Readonly<Record<string, string>>;

/** Where figures go. Two calls, so that any metrics library fits behind it; a throw is logged and passed over. */
export interface MetricsSink {
  /** Adds `value` to the counter of that name and those labels. */
  counter(name: string, value: number, labels: MetricLabels): void;
  /** Records one `value`. */
  histogram(name: string, value: number, labels: MetricLabels): void;
}
