// Stands for an optional package in the tests of an installation without it.
throw Object.assign(new Error('This package is not installed.'), { code: 'ERR_MODULE_NOT_FOUND' });

export {};
