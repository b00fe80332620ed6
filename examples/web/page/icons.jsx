/** Outlines on a grid of 24 × 24. */
const PATHS = {
  menu: 'M4 7h16M4 12h16M4 17h10',
  plus: 'M12 5v14M5 12h14',
  up: 'M12 19V5M6 11l6-6 6 6',
  down: 'M12 5v14M6 13l6 6 6-6',
  stop: 'M8 8h8v8H8z',
  copy: 'M9 9h10v11H9zM5 15V4h10',
  check: 'M5 13l4 4L19 7',
  again: 'M4 12a8 8 0 0 1 14-5.3L20 9M20 4v5h-5M20 12a8 8 0 0 1-14 5.3L4 15M4 20v-5h5',
  edit: 'M4 20h4L19 9l-4-4L4 16zM13 7l4 4',
  left: 'M14 6l-6 6 6 6',
  right: 'M10 6l6 6-6 6',
  bin: 'M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13',
  close: 'M6 6l12 12M18 6L6 18',
  search: 'M11 5a6 6 0 1 0 0 12 6 6 0 0 0 0-12zM20 20l-4.7-4.7',
  file: 'M7 3h7l4 4v14H7zM14 3v4h4',
  clip: 'M20 11l-8.5 8.5a5 5 0 0 1-7-7L13 4a3.3 3.3 0 0 1 4.7 4.7l-8.5 8.5a1.7 1.7 0 0 1-2.4-2.4L14.5 7',
  tool: 'M14.5 5.5a4.5 4.5 0 0 0-5.7 5.7L4 16l4 4 4.8-4.8a4.5 4.5 0 0 0 5.7-5.7L15.5 12 12 8.5z',
  hand: 'M12 9v5M12 17v.1M12 3.5l9 16.5H3z',
  alert: 'M12 8v4.5M12 15.8v.1M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z',
};

export function Icon({ name }) {
  return (
    <svg className={`icon icon-${name}`} viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}

/** A button that shows an icon and is called by its label. */
export function IconButton({ name, label, ...rest }) {
  return (
    <button type="button" className="icon-button" aria-label={label} title={label} {...rest}>
      <Icon name={name} />
    </button>
  );
}
